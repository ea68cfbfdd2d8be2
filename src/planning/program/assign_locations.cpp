// SPDX-License-Identifier: Apache-2.0
// From assignments to moves between locations: who writes which copy, and where each value lives.
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "planning/program/value_copies.hpp"
#include "planning/schedule/core/verbs.hpp"

namespace coset::program {
namespace {

using schedule::assignment;
using schedule::block_t;
using schedule::no_slot;
using schedule::slot_t;
using schedule::source;

policy adapted(policy p, bool has_shared_outputs, bool alone) {
  // In place the caller's output is its input, so inputs need no copy to the outputs. A shared output has no room for
  // the inputs of all ranks.
  if ((p.in_place || has_shared_outputs) && p.first == area::output) p.first = area::input;
  // Messages are sent from staging. One copy of an input has to do.
  if (!alone && p.first == area::output) p.first = area::staging;
  return p;
}

/// An assignment, and which peers it reads: the number of their first appearance.
struct with_peers {
  std::size_t peers;
  assignment what;
};

bool goes_on(with_peers const& last, with_peers const& next) {
  return last.peers == next.peers && last.what.block + 1 == next.what.block;
}

/// How many runs of neighbouring blocks with the same peers there are.
std::size_t runs_in(std::vector<with_peers> const& all) {
  std::size_t runs = all.empty() ? 0 : 1;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) runs += !goes_on(all[i], all[i + 1]);
  return runs;
}

/// One rank's assignments of a step, those with the same peers block after block, where that makes at most half as many moves
/// of them: neighbouring blocks become one. Peers stay in the order of the schedule, in which ranks do not all begin with the
/// same one. All stay as they are if the rank makes several values of a block, one of which may take the place of what
/// another reads.
void put_by_peers(schedule::schedule const& s, std::span<assignment> of_rank) {
  std::map<std::vector<rank_t>, std::size_t> seen;
  std::vector<with_peers> all;
  for (assignment const& a : of_rank) {
    std::vector<rank_t> peers;
    for (source const& from : s.from(a)) peers.push_back(from.rank);
    all.push_back({seen.try_emplace(std::move(peers), seen.size()).first->second, a});
  }
  auto sorted = all;
  std::ranges::sort(sorted, {}, [](with_peers const& w) { return w.what.block; });
  auto const same_block = [](with_peers const& a, with_peers const& b) { return a.what.block == b.what.block; };
  if (std::ranges::adjacent_find(sorted, same_block) != sorted.end()) return;
  std::ranges::stable_sort(sorted, {}, &with_peers::peers);
  if (2 * runs_in(sorted) <= runs_in(all)) std::ranges::transform(sorted, of_rank.begin(), &with_peers::what);
}

std::vector<assignment> by_peers(schedule::schedule const& s, std::vector<assignment> step) {
  if (detail::swaps_pieces(s.verb)) return step;  // in place, blocks take each other's places
  for (auto first = step.begin(); first != step.end();) {
    auto const last = std::find_if(first, step.end(), [&](assignment const& a) { return a.rank != first->rank; });
    put_by_peers(s, {first, last});
    first = last;
  }
  return step;
}

/// The same move of the next block.
bool goes_on(operation const& last, operation const& next) {
  auto const is_next = [](location const& a, location const& b) {
    return a.where == b.where && a.rank == b.rank && a.block + 1 == b.block;
  };
  return last.rank == next.rank && std::ranges::equal(last.from, next.from, is_next) &&
         std::ranges::equal(last.to, next.to, is_next);
}

class location_assignment {
 public:
  location_assignment(split_schedule const& s, policy const& p, std::vector<rank_t> const& output_of)
      : schedule_(s.own),
        split_(s),
        policy_(adapted(p, !output_of.empty(), s.alone)),
        output_of_(output_of),
        blocks_(s.own.blocks.size()),
        copies_(s, policy_) {}

  linear_order run() {
    list_operations();
    std::uint32_t const layers = allocate_staging(schedule_, copies_, policy_, output_of_, operations_);
    return {
        schedule_.ranks, static_cast<std::uint32_t>(blocks_),  layers,      std::move(operations_), copies_.inputs(),
        output_of_,      detail::swaps_pieces(schedule_.verb), split_.first};
  }

 private:
  /// The location where copy `h` is found by `reader`. Layers are assigned later: until then `layer` names the copy.
  location found(copy_t h, rank_t rank, block_t block, slot_t slot, rank_t reader) const {
    value_copy const& what = copies_[h];
    bool const own = reader == rank;
    area where = copies_.home_of(what);
    if (slot == 0) {
      where = own ? (what.saved ? area::staging : area::input) : shown_to(reader, rank);
    } else if (own && !what.moved && !copies_.is_partial(what) && (what.is_result || !(what.peers_read || what.sent))) {
      where = area::output;
    }
    return {where, rank, h, block, what.value};
  }

  /// Where an input is found by peers: callers' arrays are in reach within a process.
  area shown_to(rank_t reader, rank_t of) const {
    return policy_.first == area::input && !split_.is_near(of, reader) ? area::staging : policy_.first;
  }

  location found(copy_t h, rank_t reader) const {
    assignment const& a = *copies_[h].made_by;
    return found(h, a.rank, a.block, a.slot, reader);
  }

  location shared(copy_t h) const {
    assignment const& a = *copies_[h].made_by;
    return {copies_.home_of(copies_[h]), a.rank, h, a.block, copies_[h].value};
  }

  location result(copy_t h) const {
    assignment const& a = *copies_[h].made_by;
    return {area::output, a.rank, h, a.block, copies_[h].value};
  }

  void list_operations() {
    for (rank_t r = 0; r < schedule_.ranks; ++r) list_entry(r);
    // What only changes places has nothing to do with its rank's piece: others' pieces are on their way meanwhile.
    bool const copies_own_first = schedule::is_derived(schedule_.verb);
    for (rank_t r = 0; copies_own_first && r < schedule_.ranks; ++r) list_own_results(r);
    std::size_t const agreed = step_before_agreement();
    std::uint32_t number = 1;  // messages belong to the step that reads what they bring
    for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
      auto const step = by_peers(schedule_, schedule_.steps[i]);
      std::size_t const before = operations_.size();
      if (i == agreed) ask_for_agreement();
      if (!split_.slices[i].empty()) list_offloads(split_.slices[i]);
      if (split_.has_messages[i]) list_messages(i);
      std::size_t const folds = operations_.size();
      store_inputs(step);
      for (assignment const& a : step) {
        if (!copies_[copies_.target(a)].moved) list_fold(a);
      }
      glue_from(folds);
      std::size_t const arrivals = operations_.size();
      for (assignment const& a : step) {
        if (copies_[copies_.target(a)].moved) list_arrival(a);
      }
      glue_from(arrivals);
      for (std::size_t k = before; k < operations_.size(); ++k) operations_[k].step = number;
      if (!split_.has_messages[i]) ++number;
    }
    std::size_t const before = operations_.size();
    for (rank_t r = 0; r < schedule_.ranks; ++r) {
      if (!copies_own_first) list_own_results(r);
      list_exit(r);
    }
    for (std::size_t k = before; k < operations_.size(); ++k) operations_[k].step = number - 1;
  }

  /// Neighbouring blocks that are moved alike are waited for as one, so that they can become one. What stands side by side in
  /// the order of all ranks may be done as one without a circle of waits. Where ranks do not all have the same to do at the
  /// same time, as in reduce and broadcast, a run is waited for in quarters: who is ahead gives others something to do.
  void glue_from(std::size_t first) {
    bool const is_symmetric = !coset::detail::is_rooted(schedule_.verb);
    for (std::size_t end = first; first < operations_.size(); first = end) {
      for (end = first + 1; end < operations_.size() && goes_on(operations_[end - 1], operations_[end]);) ++end;
      std::size_t const at_once = is_symmetric ? end - first : (end - first + 3) / 4;
      for (std::size_t k = first; k + 1 < end; ++k) operations_[k].glued = (k + 1 - first) % at_once != 0;
    }
  }

  /// What one proxy has for another in a step is one message, if all of it is of one form. Both name what is in it by its
  /// owner and its slot there, and so put it into one order. Domains may cut blocks differently, so these come last: a
  /// block of one lies where neighbours of the other do.
  void list_messages(std::size_t step) {
    using place = std::tuple<rank_t, slot_t, block_t>;
    using message = std::tuple<rank_t, rank_t, bool>;
    std::map<message, std::map<place, location>> sent, received;
    for (sent_value const& v : split_.sent[step]) {
      copy_t const there = copies_.at(v.rank, v.block, v.slot);
      sent[{v.sender, v.receiver, copies_.is_partial(copies_[there])}].insert(
          {{split_.first + v.rank, v.named, v.block}, {area::staging, v.rank, there, v.block, copies_[there].value}});
    }
    for (std::size_t k = 0; k < split_.received[step].size(); ++k) {
      assignment const& a = schedule_.steps[step][k];
      received_value const& v = split_.received[step][k];
      copy_t const here = copies_.target(a);
      received[{a.rank, v.sender, copies_.is_partial(copies_[here])}].insert(
          {{v.rank, v.named, a.block}, shared(here)});
    }
    auto const list = [&](operation::kind what, auto const& messages) {
      for (auto const& [ends, values] : messages) {
        operation o{what, std::get<0>(ends), 0, {}, {}};
        o.peer = std::get<1>(ends);
        for (auto const& [where, at] : values) (what == operation::kind::send ? o.from : o.to).push_back(at);
        operations_.push_back(std::move(o));
      }
    };
    list(operation::kind::send, sent);
    list(operation::kind::receive, received);
  }

  /// An offload that some begin and others do not cannot be taken back. So all combiners tell each other first, by
  /// empty messages, what they are about to do: at once, so that they are there in time, or where other messages come
  /// before these, after them. Where nothing is combined nobody is asked.
  std::size_t step_before_agreement() const {
    auto const is_offloaded = [&](std::size_t i) { return !split_.slices[i].empty(); };
    std::size_t const steps = schedule_.steps.size();
    std::size_t offloaded = 0;
    while (offloaded < steps && !is_offloaded(offloaded)) ++offloaded;
    auto const& has = split_.has_messages;
    bool const messages_before =
        std::any_of(has.begin(), has.begin() + std::ptrdiff_t(offloaded), [](char there) { return there != 0; });
    return messages_before ? offloaded : 0;
  }

  rank_t combiner(std::size_t slice) const { return split_.combiners[slice][split_.own_domain] - split_.first; }

  void ask_for_agreement() {
    std::size_t used = 0;
    for (auto const& slices : split_.slices) used = std::max(used, slices.size());
    for (std::size_t s = 0; s < used; ++s) {
      for (std::size_t domain = 0; domain < split_.combiners[s].size(); ++domain) {
        if (domain != split_.own_domain) questions_.emplace(combiner(s), split_.combiners[s][domain]);
      }
    }
    for (auto const& [own, other] : questions_) list_word(operation::kind::send, own, other);
  }

  void list_word(operation::kind what, rank_t own, rank_t other) {
    operation o{what, own, 0, {}, {}};
    o.peer = other;
    operations_.push_back(std::move(o));
  }

  void await_agreement() {
    for (auto const& [own, other] : questions_) list_word(operation::kind::receive, own, other);
    questions_.clear();
  }

  void list_offloads(std::vector<slice> const& slices) {
    await_agreement();
    for (auto const what : {operation::kind::offload, operation::kind::await_offload}) {
      for (std::uint32_t s = 0; s < slices.size(); ++s) list_offload(what, s, slices[s]);
    }
  }

  void list_offload(operation::kind what, std::uint32_t number, slice const& of) {
    operation o{what, combiner(number), 0, {}, {}};
    o.slice = number;
    for (assignment const& a : of) {
      source const from = schedule_.from(a).front();
      copy_t const mine = copies_.only_source(a);
      if (what == operation::kind::offload)
        o.from.push_back({area::staging, from.rank, mine, a.block, copies_[mine].value});
      else
        o.to.push_back(shared(copies_.target(a)));
    }
    operations_.push_back(std::move(o));
  }

  /// Entering, and the copy-ins of what peers do not read in place: one signal for all of them.
  void list_entry(rank_t r) {
    operations_.push_back({operation::kind::enter, r, 0, {}, {}, false});
    for (block_t b = 0; b < blocks_; ++b) {
      copy_t const input = copies_.at(r, b, 0);
      bool const shown = copies_[input].peers_read && policy_.first != area::input;
      bool const far = copies_[input].far_reads && policy_.first == area::input;
      bool const staged = copies_[input].saved || copies_[input].sent || far;
      if (!shown && !staged) continue;
      area const where = staged ? area::staging : policy_.first;
      operations_.back().glued = true;
      operations_.push_back(
          {operation::kind::move, r, b, {{area::input, r, input, b, input}}, {{where, r, input, b, input}}, false});
    }
  }

  /// An input that its owner writes where peers want it.
  bool is_pushed_input(assignment const& a) const {
    value_copy const& what = copies_[copies_.target(a)];
    return what.moved && !what.received && copies_[copies_.only_source(a)].made_by == nullptr;
  }

  /// By one move to all who want it.
  void store_inputs(std::vector<assignment> const& step) {
    std::map<copy_t, std::size_t> stored;
    for (assignment const& a : step) {
      if (!is_pushed_input(a)) continue;
      source const from = schedule_.from(a).front();
      copy_t const input = copies_.only_source(a);
      auto const [at, is_first] = stored.try_emplace(input, operations_.size());
      if (is_first) {
        location const there = found(input, from.rank, a.block, from.slot, from.rank);
        operations_.push_back({operation::kind::move, from.rank, a.block, {there}, {}, false});
      }
      operations_[at->second].to.push_back(shared(copies_.target(a)));
    }
  }

  void list_fold(assignment const& a) {
    copy_t const h = copies_.target(a);
    value_copy const& what = copies_[h];
    operation o{operation::kind::move, a.rank, a.block, {}, {}, false};
    for (source const& from : schedule_.from(a))
      o.from.push_back(found(copies_.at(from.rank, a.block, from.slot), from.rank, a.block, from.slot, a.rank));
    bool const also_shared = (what.peers_read && copies_.home_of(what) == area::staging) ||
                             (what.read && copies_.is_partial(what)) || what.sent;
    if (what.is_result || (what.read && !also_shared)) o.to.push_back(result(h));
    if (also_shared) o.to.push_back(shared(h));
    for (copy_t rider : what.riders) o.to.push_back(shared(rider));
    if (!output_of_.empty()) drop_what_is_there(o);
    if (!o.to.empty()) operations_.push_back(std::move(o));
  }

  /// Ranks that share an output copy results there in turn, block by block, from where others have made them. Not where
  /// somebody reads the copy on its way.
  bool is_copied_by_another(location const& p) const {
    bool const made_here = copies_[p.layer].value == p.layer;
    if (made_here || copies_[p.layer].read || policy_.later != area::staging) return false;
    auto const has_same_output = [&](rank_t r) { return output_of_[r] == output_of_[p.rank]; };
    rank_t sharing = 0, before = 0;
    for (rank_t r = 0; r < schedule_.ranks; ++r) {
      before += r < p.rank && has_same_output(r) ? 1 : 0;
      sharing += has_same_output(r) ? 1 : 0;
    }
    return p.block % sharing != before;
  }

  /// Shared outputs: a result that lies there already, written for another rank, is not written again.
  void drop_what_is_there(operation& o) {
    shared_results_.resize(schedule_.ranks * blocks_, no_value);
    std::erase_if(o.to, [&](location const& p) {
      if (p.where != area::output || !copies_[p.layer].is_result) return false;
      if (is_copied_by_another(p)) return true;
      value_t& there = shared_results_[copies_.cell(output_of_[p.rank], p.block)];
      return std::exchange(there, p.value) == p.value;
    });
  }

  /// What a peer's operation or a message has left with this rank: into the caller's output, and on to its own riders.
  void list_arrival(assignment const& a) {
    copy_t const h = copies_.target(a);
    operation o{operation::kind::move, a.rank, a.block, {found(h, a.rank)}, {}, false};
    if (copies_[h].is_result && copies_.home_of(copies_[h]) == area::staging) o.to.push_back(result(h));
    for (copy_t rider : copies_[h].riders) o.to.push_back(shared(rider));
    if (!output_of_.empty()) drop_what_is_there(o);
    if (!o.to.empty()) operations_.push_back(std::move(o));
  }

  /// An input that is its own result still has to reach the output.
  void list_own_results(rank_t r) {
    for (block_t b = 0; b < blocks_; ++b) {
      copy_t const input = copies_.at(r, b, 0);
      bool const there = policy_.in_place || (policy_.first == area::output && copies_[input].peers_read);
      if (schedule_.result[r][b] != 0 || there) continue;
      operations_.push_back({operation::kind::move,
                             r,
                             b,
                             {{area::input, r, input, b, input}},
                             {{area::output, r, input, b, input}},
                             false});
    }
  }

  void list_exit(rank_t r) {
    operation leave{operation::kind::leave, r, 0, {}, {}, false};
    for (block_t b = 0; b < blocks_; ++b) {
      slot_t const slot = schedule_.result[r][b];
      if (slot != no_slot)
        leave.from.push_back({area::output, r, copies_.at(r, b, slot), b, copies_[copies_.at(r, b, slot)].value});
    }
    operations_.push_back(std::move(leave));
  }

  schedule::schedule const& schedule_;
  split_schedule const& split_;
  policy const policy_;
  std::vector<rank_t> const& output_of_;
  std::size_t const blocks_;
  value_copies const copies_;
  std::vector<operation> operations_;
  std::set<std::pair<rank_t, rank_t>> questions_;  ///< who asks whom, and is asked in turn
  std::vector<value_t> shared_results_;  ///< [rank · blocks + block]: what has been written to shared outputs so far
};

}  // namespace

linear_order assign_locations(split_schedule const& s, policy const& p, std::vector<rank_t> const& output_of) {
  return location_assignment(s, p, output_of).run();
}

}  // namespace coset::program
