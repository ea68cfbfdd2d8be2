// SPDX-License-Identifier: Apache-2.0
// From assignments to moves between places: who carries which copy, and where each value lives.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "program/operation.hpp"

namespace coset::program {
namespace {

using schedule::assignment;
using schedule::block_t;
using schedule::no_slot;
using schedule::slot_t;
using schedule::source;

/// A holder is a (rank, block, slot); slot 0 is the rank's input.
using holder_t = std::uint32_t;

struct lifetime {
  std::uint32_t begin = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t end = 0;
  bool used() const { return begin <= end; }
  void cover(std::uint32_t time) { begin = std::min(begin, time), end = std::max(end, time); }
};

/// What is known of each holder before storage is assigned.
struct holder {
  assignment const* made_by = nullptr;
  value_t value = no_value;  ///< the holder of the fold or input that it is a copy of
  bool moved = false;        ///< written by a carrier or a message, not by its own rank
  bool sent = false;         ///< read by a message
  bool received = false;     ///< written by one
  bool read = false;         ///< by a fold or a copy that does not ride on the operation making this one
  bool peers_read = false;
  bool is_result = false;
  bool is_partial = false;       ///< of a value's first holder: kept wider than an element
  bool saved = false;            ///< an input that its own rank reads after the result has taken its place
  std::vector<holder_t> riders;  ///< moved copies that the operation making this one writes
};

class lowering {
 public:
  lowering(split_schedule const& s, policy const& p, std::vector<rank_t> const& output_of, distribution const& d)
      : schedule_(s.whole),
        has_messages_(s.has_messages),
        slices_(s.slices),
        distribution_(d),
        policy_(p),
        output_of_(output_of),
        blocks_(s.whole.blocks.size()) {
    // In place the caller's output is its input: reaching one is reaching the other, and nothing needs copying in. In a
    // shared output there is no room for everybody's input.
    if ((policy_.in_place || !output_of_.empty()) && policy_.first == area::output) policy_.first = area::input;
    // Messages are sent from staging. One copy of an input has to do.
    if (!d.whole() && policy_.first == area::output) policy_.first = area::staging;
  }

  lowered run() {
    number_holders();
    name_values();
    mark_messages();
    mark_moved_copies();
    mark_reads();
    if (policy_.widens) mark_partials();
    if (policy_.in_place) mark_saved_inputs();
    list_operations();
    measure_lifetimes();
    assign_layers();
    first_.pop_back();  // what remains names each input
    return {schedule_.ranks, static_cast<std::uint32_t>(blocks_), layers_, std::move(operations_), std::move(first_),
            output_of_};
  }

 private:
  std::size_t cell(rank_t rank, block_t block) const { return rank * blocks_ + block; }
  holder_t at(rank_t rank, block_t block, slot_t slot) const { return first_[cell(rank, block)] + slot; }
  holder_t target(assignment const& a) const { return at(a.rank, a.block, a.slot); }
  bool is_copy(assignment const& a) const { return a.count == 1; }
  holder_t only_source(assignment const& a) const {
    source const from = schedule_.from(a).front();
    return at(from.rank, a.block, from.slot);
  }

  template <class Visit>
  void for_each_assignment(Visit visit) const {
    for (auto const& step : schedule_.steps) {
      for (assignment const& a : step) visit(a);
    }
  }

  void mark_messages() {
    for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
      for (slice const& one : slices_[i]) mark_combination(one);
      if (!has_messages_[i]) continue;
      for (assignment const& a : schedule_.steps[i]) {
        holders_[target(a)].received = holders_[target(a)].moved = true;
        holders_[only_source(a)].sent = true;
      }
    }
  }

  /// A combination takes its value from staging and leaves what comes of it there, as messages do.
  void mark_combination(slice const& one) {
    for (std::size_t domain = 0; domain < one.size(); ++domain) {
      for (assignment const& a : one[domain]) {
        holders_[target(a)].received = holders_[target(a)].moved = true;
        holders_[contributed(a, domain)].sent = true;
      }
    }
  }

  holder_t contributed(assignment const& a, std::size_t domain) const {
    source const from = schedule_.from(a)[domain];
    return at(from.rank, a.block, from.slot);
  }

  void number_holders() {
    std::vector<slot_t> slots(schedule_.ranks * blocks_, 1);
    for_each_assignment([&](assignment const& a) {
      slots[cell(a.rank, a.block)] = std::max(slots[cell(a.rank, a.block)], a.slot + 1);
    });
    first_.resize(slots.size() + 1, 0);
    for (std::size_t c = 0; c < slots.size(); ++c) first_[c + 1] = first_[c] + slots[c];
    holders_.resize(first_.back());
    for (rank_t r = 0; r < schedule_.ranks; ++r) {
      for (block_t b = 0; b < blocks_; ++b) {
        if (schedule_.result[r][b] != no_slot) holders_[at(r, b, schedule_.result[r][b])].is_result = true;
      }
    }
    for_each_assignment([&](assignment const& a) { holders_[target(a)].made_by = &a; });
  }

  void name_values() {
    for (holder_t h = 0; h < holders_.size(); ++h) holders_[h].value = h;
    for_each_assignment([&](assignment const& a) {
      if (is_copy(a)) holders_[target(a)].value = holders_[only_source(a)].value;
    });
  }

  /// A copy from a peer rides on the operation that makes its source (push), or on the fold at the root of its chain
  /// (forward). Inputs are made by nobody, so their first copy is always pulled.
  void mark_moved_copies() {
    if (policy_.how == copies::pull) return;
    auto const moves = [&](assignment const& a) {
      return is_copy(a) && !holders_[target(a)].received && schedule_.from(a).front().rank != a.rank &&
             holders_[only_source(a)].made_by != nullptr;
    };
    for_each_assignment([&](assignment const& a) {
      if (!moves(a)) return;
      holder_t carrier = only_source(a);
      while (policy_.how == copies::forward && moves(*holders_[carrier].made_by))
        carrier = only_source(*holders_[carrier].made_by);
      holders_[carrier].riders.push_back(target(a));
      holders_[target(a)].moved = true;
    });
  }

  void mark_reads() {
    for_each_assignment([&](assignment const& a) {
      if (holders_[target(a)].moved) return;
      for (source const& from : schedule_.from(a)) {
        holder& h = holders_[at(from.rank, a.block, from.slot)];
        h.read = true;
        h.peers_read |= from.rank != a.rank;
      }
    });
  }

  /// Partial results are what is folded further; results that are only copied are rounded where they are made.
  void mark_partials() {
    for_each_assignment([&](assignment const& a) {
      if (is_copy(a)) return;
      for (source const& from : schedule_.from(a)) {
        holder& made = holders_[holders_[at(from.rank, a.block, from.slot)].value];
        made.is_partial = made.made_by != nullptr;
      }
    });
  }

  bool is_partial(holder const& h) const { return holders_[h.value].is_partial; }
  /// Where peers reach a value that was made on the way. A caller's array has no room for what is wider than elements.
  /// Messages are sent from staging and received there.
  area home_of(holder const& h) const { return is_partial(h) || h.sent || h.received ? area::staging : policy_.later; }

  /// In place, the result of a block ends its input; what the own rank still makes of that, as exclusive scans do, it
  /// makes of a copy.
  void mark_saved_inputs() {
    std::vector<char> done(schedule_.ranks * blocks_, false);
    for_each_assignment([&](assignment const& a) {
      holder_t const input = at(a.rank, a.block, 0);
      for (source const& from : schedule_.from(a)) {
        if (from.rank == a.rank && from.slot == 0 && done[cell(a.rank, a.block)]) holders_[input].saved = true;
      }
      if (holders_[target(a)].is_result) done[cell(a.rank, a.block)] = true;
    });
  }

  /// The place where holder `h` is found by `reader`. Layers are assigned later: until then `layer` names the holder.
  place found(holder_t h, rank_t rank, block_t block, slot_t slot, rank_t reader) const {
    holder const& what = holders_[h];
    bool const own = reader == rank;
    area where = home_of(what);
    if (slot == 0) {
      where = !own ? policy_.first : what.saved ? area::staging : area::input;
    } else if (own && !what.moved && !is_partial(what) && (what.is_result || !(what.peers_read || what.sent))) {
      where = area::output;
    }
    return {where, rank, h, block, what.value};
  }

  place found(holder_t h, rank_t reader) const {
    assignment const& a = *holders_[h].made_by;
    return found(h, a.rank, a.block, a.slot, reader);
  }

  place shared(holder_t h) const {
    assignment const& a = *holders_[h].made_by;
    return {home_of(holders_[h]), a.rank, h, a.block, holders_[h].value};
  }

  place result(holder_t h) const {
    assignment const& a = *holders_[h].made_by;
    return {area::output, a.rank, h, a.block, holders_[h].value};
  }

  void list_operations() {
    for (rank_t r = 0; r < schedule_.ranks; ++r) list_entry(r);
    std::size_t const agreed = step_before_agreement();
    for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
      auto const& step = schedule_.steps[i];
      if (i == agreed) ask_for_agreement();
      if (!slices_[i].empty()) list_combinations(slices_[i]);
      if (has_messages_[i]) list_messages(step);
      for (assignment const& a : step) {
        if (!holders_[target(a)].moved) list_fold(a);
      }
      for (assignment const& a : step) {
        if (holders_[target(a)].moved) list_arrival(a);
      }
    }
    for (rank_t r = 0; r < schedule_.ranks; ++r) list_exit(r);
  }

  /// What one carrier has for another in a step is one message, if all of it is of one form.
  void list_messages(std::vector<assignment> const& step) {
    std::map<std::tuple<rank_t, rank_t, bool>, std::pair<operation, operation>> between;
    for (assignment const& a : step) {
      source const from = schedule_.from(a).front();
      holder_t const there = only_source(a), here = target(a);
      rank_t const sender = distribution_.carrier[from.rank];
      auto& [send, receive] = between[{sender, a.rank, is_partial(holders_[here])}];
      send.what = operation::kind::send;
      send.rank = sender;
      send.from.push_back({area::staging, from.rank, there, a.block, holders_[there].value});
      receive.what = operation::kind::receive;
      receive.rank = a.rank;
      receive.to.push_back(shared(here));
    }
    auto const first = static_cast<std::uint32_t>(operations_.size()),
               count = static_cast<std::uint32_t>(between.size());
    for (auto& [carriers, ends] : between) operations_.push_back(std::move(ends.first));
    for (auto& [carriers, ends] : between) operations_.push_back(std::move(ends.second));
    for (std::uint32_t i = 0; i < count; ++i) {
      operations_[first + i].partner = first + count + i;
      operations_[first + count + i].partner = first + i;
    }
  }

  /// A combination that some begin and others do not cannot be taken back. So all combiners tell each other first, by
  /// empty messages, what they are about to do: at once, so that they are there in time, or where other messages come
  /// before these, after them.
  std::size_t step_before_agreement() const {
    auto const is_combined = [&](std::size_t i) { return !slices_[i].empty(); };
    std::size_t const steps = schedule_.steps.size();
    std::size_t combined = 0;
    while (combined < steps && !is_combined(combined)) ++combined;
    if (combined == steps) return steps;
    bool const messages_before = std::any_of(has_messages_.begin(), has_messages_.begin() + std::ptrdiff_t(combined),
                                             [](char has) { return has != 0; });
    return messages_before ? combined : 0;
  }

  void ask_for_agreement() {
    std::size_t used = 0;
    for (auto const& slices : slices_) used = std::max(used, slices.size());
    std::set<std::pair<rank_t, rank_t>> pairs;
    for (std::size_t s = 0; s < used; ++s) {
      for (rank_t const from : distribution_.combiners[s]) {
        for (rank_t const to : distribution_.combiners[s]) {
          if (from != to) pairs.emplace(from, to);
        }
      }
    }
    for (auto const& [from, to] : pairs) {
      questions_.emplace_back(to, static_cast<std::uint32_t>(operations_.size()));
      operations_.push_back({operation::kind::send, from, 0, {}, {}});
    }
  }

  void await_agreement() {
    for (auto const& [to, sent] : questions_) {
      operations_[sent].partner = static_cast<std::uint32_t>(operations_.size());
      operations_.push_back({operation::kind::receive, to, 0, {}, {}, false, sent});
    }
    questions_.clear();
  }

  void list_combinations(std::vector<slice> const& slices) {
    await_agreement();
    for (auto const what : {operation::kind::contribute, operation::kind::collect}) {
      for (std::uint32_t s = 0; s < slices.size(); ++s) {
        for (std::size_t domain = 0; domain < slices[s].size(); ++domain) list_combination(what, s, slices[s], domain);
      }
    }
  }

  void list_combination(operation::kind what, std::uint32_t number, slice const& of, std::size_t domain) {
    operation o{what, distribution_.combiners[number][domain], 0, {}, {}};
    o.slice = number;
    for (assignment const& a : of[domain]) {
      source const from = schedule_.from(a)[domain];
      holder_t const mine = contributed(a, domain);
      if (what == operation::kind::contribute)
        o.from.push_back({area::staging, from.rank, mine, a.block, holders_[mine].value});
      else
        o.to.push_back(shared(target(a)));
    }
    operations_.push_back(std::move(o));
  }

  /// Entering, and the copy-ins of what peers do not read in place: one post for all of them.
  void list_entry(rank_t r) {
    operations_.push_back({operation::kind::enter, r, 0, {}, {}, false});
    for (block_t b = 0; b < blocks_; ++b) {
      holder_t const input = at(r, b, 0);
      bool const shown = holders_[input].peers_read && policy_.first != area::input;
      bool const staged = holders_[input].saved || holders_[input].sent;
      if (!shown && !staged) continue;
      area const where = staged ? area::staging : policy_.first;
      operations_.back().glued = true;
      operations_.push_back(
          {operation::kind::move, r, b, {{area::input, r, input, b, input}}, {{where, r, input, b, input}}, false});
    }
  }

  void list_fold(assignment const& a) {
    holder_t const h = target(a);
    holder const& what = holders_[h];
    operation o{operation::kind::move, a.rank, a.block, {}, {}, false};
    for (source const& from : schedule_.from(a))
      o.from.push_back(found(at(from.rank, a.block, from.slot), from.rank, a.block, from.slot, a.rank));
    bool const also_shared =
        (what.peers_read && home_of(what) == area::staging) || (what.read && is_partial(what)) || what.sent;
    if (what.is_result || (what.read && !also_shared)) o.to.push_back(result(h));
    if (also_shared) o.to.push_back(shared(h));
    for (holder_t rider : what.riders) o.to.push_back(shared(rider));
    if (!output_of_.empty()) drop_what_is_there(o);
    if (!o.to.empty()) operations_.push_back(std::move(o));
  }

  /// Shared outputs: a result that lies there already, written for another rank, is not written again.
  void drop_what_is_there(operation& o) {
    shared_results_.resize(schedule_.ranks * blocks_, no_value);
    std::erase_if(o.to, [&](place const& p) {
      if (p.where != area::output || !holders_[p.layer].is_result) return false;
      value_t& there = shared_results_[cell(output_of_[p.rank], p.block)];
      return std::exchange(there, p.value) == p.value;
    });
  }

  /// What a carrier has left with this rank: into the caller's output, and on to its own riders.
  void list_arrival(assignment const& a) {
    holder_t const h = target(a);
    operation o{operation::kind::move, a.rank, a.block, {found(h, a.rank)}, {}, false};
    if (holders_[h].is_result && home_of(holders_[h]) == area::staging) o.to.push_back(result(h));
    for (holder_t rider : holders_[h].riders) o.to.push_back(shared(rider));
    if (!output_of_.empty()) drop_what_is_there(o);
    if (!o.to.empty()) operations_.push_back(std::move(o));
  }

  /// Leaving: an input that is its own result (allgather, broadcast's root) still has to reach the output.
  void list_exit(rank_t r) {
    for (block_t b = 0; b < blocks_; ++b) {
      holder_t const input = at(r, b, 0);
      bool const there = policy_.in_place || (policy_.first == area::output && holders_[input].peers_read);
      if (schedule_.result[r][b] != 0 || there) continue;
      operations_.push_back({operation::kind::move,
                             r,
                             b,
                             {{area::input, r, input, b, input}},
                             {{area::output, r, input, b, input}},
                             false});
    }
    operation leave{operation::kind::leave, r, 0, {}, {}, false};
    for (block_t b = 0; b < blocks_; ++b) {
      slot_t const slot = schedule_.result[r][b];
      if (slot != no_slot) leave.from.push_back({area::output, r, at(r, b, slot), b, holders_[at(r, b, slot)].value});
    }
    operations_.push_back(std::move(leave));
  }

  /// Lifetimes of what lies in staging and of what uses the caller's output, by holder, in positions of the order.
  void measure_lifetimes() {
    staged_.resize(holders_.size());
    in_output_.resize(holders_.size());
    auto const note = [&](place const& p, std::uint32_t time) {
      if (p.where == area::staging) staged_[p.layer].cover(time);
      if (p.where == area::output || (policy_.in_place && p.where == area::input)) in_output_[p.layer].cover(time);
    };
    // A message may come at any time, and is under way until its sender leaves.
    auto const end = static_cast<std::uint32_t>(operations_.size());
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      bool const sent = operations_[i].what == operation::kind::send;
      bool const received = operations_[i].what == operation::kind::receive;
      for (place const& p : operations_[i].from) note(p, i), sent ? note(p, end) : void();
      for (place const& p : operations_[i].to) note(p, i), received ? note(p, 0) : void();
    }
    for (std::size_t c = 0; policy_.in_place && c + 1 < first_.size(); ++c) {
      if (in_output_[first_[c]].used()) in_output_[first_[c]].cover(0);  // the input is there from the start
    }
  }

  /// May a partial result of this holder lie in the caller's output? Not where that rank gets no result of the block or
  /// shares its output, and not while a result, an input or an earlier partial result lies there.
  bool fits_output(holder_t h, std::size_t c) const {
    lifetime const mine = in_output_[h];
    for (holder_t other = first_[c]; other < first_[c + 1]; ++other) {
      lifetime const theirs = in_output_[other];
      if (other == h || !theirs.used() || !lies_in_output_[other]) continue;
      if (mine.begin < theirs.end && theirs.begin < mine.end) return false;
    }
    return true;
  }

  /// The first layer that is free for the whole lifetime. A layer may be written by the very operation that reads it
  /// last: kernels allow a destination that is one of the sources, as long as both are equally wide.
  void assign_layers() {
    lies_in_output_.assign(holders_.size(), false);
    spilled_.assign(holders_.size(), false);
    layer_of_.assign(holders_.size(), 0);
    std::vector<std::vector<lifetime>> layers;
    for (rank_t r = 0; r < schedule_.ranks; ++r) {
      for (block_t b = 0; b < blocks_; ++b) assign_layers_of(r, b, layers);
    }
    for (operation& o : operations_) {
      for (place& p : o.from) settle(p);
      for (place& p : o.to) settle(p);
    }
  }

  void assign_layers_of(rank_t r, block_t b, std::vector<std::vector<lifetime>>& layers) {
    std::size_t const c = cell(r, b);
    bool const has_output = schedule_.result[r][b] != no_slot;
    std::vector<holder_t> partial, staged;
    for (holder_t h = first_[c]; h < first_[c + 1]; ++h) {
      if (staged_[h].used()) staged.push_back(h);
      if (!in_output_[h].used()) continue;
      bool const fixed = holders_[h].is_result || (h == first_[c] && has_output);
      lies_in_output_[h] = fixed;
      if (!fixed) partial.push_back(h);
    }
    std::sort(partial.begin(), partial.end(),
              [&](holder_t x, holder_t y) { return in_output_[x].begin < in_output_[y].begin; });
    for (holder_t h : partial) {
      lies_in_output_[h] = has_output && output_of_.empty() && fits_output(h, c);
      spilled_[h] = !lies_in_output_[h];
      if (!spilled_[h]) continue;
      if (!staged_[h].used()) staged.push_back(h);
      staged_[h].cover(in_output_[h].begin);
      staged_[h].cover(in_output_[h].end);
    }
    std::sort(staged.begin(), staged.end(),
              [&](holder_t x, holder_t y) { return staged_[x].begin < staged_[y].begin; });
    for (auto& layer : layers) layer.clear();
    for (holder_t h : staged) assign_staging_layer(h, layers);
  }

  void assign_staging_layer(holder_t h, std::vector<std::vector<lifetime>>& layers) {
    std::uint32_t l = 0;
    auto const free = [&](std::vector<lifetime> const& taken) {
      return std::none_of(taken.begin(), taken.end(), [&](lifetime const& t) {
        bool const touch = staged_[h].begin == t.end || t.begin == staged_[h].end;
        return (staged_[h].begin < t.end && t.begin < staged_[h].end) || (touch && policy_.widens);
      });
    };
    while (l < layers.size() && !free(layers[l])) ++l;
    if (l == layers.size()) layers.emplace_back();
    layers[l].push_back(staged_[h]);
    layer_of_[h] = l;
    layers_ = std::max(layers_, l + 1);
  }

  void settle(place& p) {
    holder_t const h = p.layer;
    if (p.where == area::output && spilled_[h]) p.where = area::staging;
    p.layer = p.where == area::staging ? layer_of_[h] : 0;
    p.partial = p.where == area::staging && is_partial(holders_[h]);
    if (p.where == area::output && !output_of_.empty()) p.rank = output_of_[p.rank];
  }

  schedule::schedule const& schedule_;
  std::vector<char> const& has_messages_;
  std::vector<std::vector<slice>> const& slices_;
  distribution const& distribution_;
  policy policy_;
  std::vector<rank_t> const& output_of_;
  std::size_t const blocks_;
  std::vector<holder_t> first_;
  std::vector<holder> holders_;
  std::vector<operation> operations_;
  std::vector<std::pair<rank_t, std::uint32_t>> questions_;  ///< whom, and which operation sends them
  std::vector<lifetime> staged_, in_output_;
  std::vector<std::uint32_t> layer_of_;
  std::vector<char> lies_in_output_, spilled_;
  std::vector<value_t> shared_results_;  ///< [rank · blocks + block]: what has been written to shared outputs so far
  std::uint32_t layers_ = 0;
};

}  // namespace

lowered lower(split_schedule const& s, policy const& p, std::vector<rank_t> const& output_of, distribution const& d) {
  return lowering(s, p, output_of, d).run();
}

}  // namespace coset::program
