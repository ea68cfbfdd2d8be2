// SPDX-License-Identifier: Apache-2.0
// From assignments to moves between locations: who writes which copy, and where each value lives.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "program/value_copies.hpp"

namespace coset::program {
namespace {

using schedule::assignment;
using schedule::block_t;
using schedule::no_slot;
using schedule::slot_t;
using schedule::source;

policy adapted(policy p, bool has_shared_outputs, bool whole) {
  // In place the caller's output is its input, so inputs need no copy to the outputs. A shared output has no room for
  // the inputs of all ranks.
  if ((p.in_place || has_shared_outputs) && p.first == area::output) p.first = area::input;
  // Messages are sent from staging. One copy of an input has to do.
  if (!whole && p.first == area::output) p.first = area::staging;
  return p;
}

class location_assignment {
 public:
  location_assignment(split_schedule const& s, policy const& p, std::vector<rank_t> const& output_of,
                      distribution const& d)
      : schedule_(s.whole),
        has_messages_(s.has_messages),
        slices_(s.slices),
        distribution_(d),
        policy_(adapted(p, !output_of.empty(), d.whole())),
        output_of_(output_of),
        blocks_(s.whole.blocks.size()),
        copies_(s, policy_) {}

  linear_order run() {
    list_operations();
    std::uint32_t const layers = allocate_staging(schedule_, copies_, policy_, output_of_, operations_);
    return {schedule_.ranks, static_cast<std::uint32_t>(blocks_), layers, std::move(operations_), copies_.inputs(),
            output_of_};
  }

 private:
  /// The location where copy `h` is found by `reader`. Layers are assigned later: until then `layer` names the copy.
  location found(copy_t h, rank_t rank, block_t block, slot_t slot, rank_t reader) const {
    value_copy const& what = copies_[h];
    bool const own = reader == rank;
    area where = copies_.home_of(what);
    if (slot == 0) {
      where = !own ? policy_.first : what.saved ? area::staging : area::input;
    } else if (own && !what.moved && !copies_.is_partial(what) && (what.is_result || !(what.peers_read || what.sent))) {
      where = area::output;
    }
    return {where, rank, h, block, what.value};
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
    std::size_t const agreed = step_before_agreement();
    for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
      auto const& step = schedule_.steps[i];
      if (i == agreed) ask_for_agreement();
      if (!slices_[i].empty()) list_offloads(slices_[i]);
      if (has_messages_[i]) list_messages(step);
      for (assignment const& a : step) {
        if (!copies_[copies_.target(a)].moved) list_fold(a);
      }
      for (assignment const& a : step) {
        if (copies_[copies_.target(a)].moved) list_arrival(a);
      }
    }
    for (rank_t r = 0; r < schedule_.ranks; ++r) list_exit(r);
  }

  /// What one proxy has for another in a step is one message, if all of it is of one form.
  void list_messages(std::vector<assignment> const& step) {
    std::map<std::tuple<rank_t, rank_t, bool>, std::pair<operation, operation>> between;
    for (assignment const& a : step) {
      source const from = schedule_.from(a).front();
      copy_t const there = copies_.only_source(a), here = copies_.target(a);
      rank_t const sender = distribution_.proxy[from.rank];
      auto& [send, receive] = between[{sender, a.rank, copies_.is_partial(copies_[here])}];
      send.what = operation::kind::send;
      send.rank = sender;
      send.from.push_back({area::staging, from.rank, there, a.block, copies_[there].value});
      receive.what = operation::kind::receive;
      receive.rank = a.rank;
      receive.to.push_back(shared(here));
    }
    auto const first = static_cast<std::uint32_t>(operations_.size()),
               count = static_cast<std::uint32_t>(between.size());
    for (auto& [proxies, ends] : between) operations_.push_back(std::move(ends.first));
    for (auto& [proxies, ends] : between) operations_.push_back(std::move(ends.second));
    for (std::uint32_t i = 0; i < count; ++i) {
      operations_[first + i].partner = first + count + i;
      operations_[first + count + i].partner = first + i;
    }
  }

  /// An offload that some begin and others do not cannot be taken back. So all combiners tell each other first, by
  /// empty messages, what they are about to do: at once, so that they are there in time, or where other messages come
  /// before these, after them. Where nothing is combined nobody is asked.
  std::size_t step_before_agreement() const {
    auto const is_offloaded = [&](std::size_t i) { return !slices_[i].empty(); };
    std::size_t const steps = schedule_.steps.size();
    std::size_t offloaded = 0;
    while (offloaded < steps && !is_offloaded(offloaded)) ++offloaded;
    bool const messages_before = std::any_of(has_messages_.begin(), has_messages_.begin() + std::ptrdiff_t(offloaded),
                                             [](char has) { return has != 0; });
    return messages_before ? offloaded : 0;
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

  void list_offloads(std::vector<slice> const& slices) {
    await_agreement();
    for (auto const what : {operation::kind::offload, operation::kind::await_offload}) {
      for (std::uint32_t s = 0; s < slices.size(); ++s) {
        for (std::size_t domain = 0; domain < slices[s].size(); ++domain) list_offload(what, s, slices[s], domain);
      }
    }
  }

  void list_offload(operation::kind what, std::uint32_t number, slice const& of, std::size_t domain) {
    operation o{what, distribution_.combiners[number][domain], 0, {}, {}};
    o.slice = number;
    for (assignment const& a : of[domain]) {
      source const from = schedule_.from(a)[domain];
      copy_t const mine = copies_.offloaded(a, domain);
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
      bool const staged = copies_[input].saved || copies_[input].sent;
      if (!shown && !staged) continue;
      area const where = staged ? area::staging : policy_.first;
      operations_.back().glued = true;
      operations_.push_back(
          {operation::kind::move, r, b, {{area::input, r, input, b, input}}, {{where, r, input, b, input}}, false});
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

  /// Shared outputs: a result that lies there already, written for another rank, is not written again.
  void drop_what_is_there(operation& o) {
    shared_results_.resize(schedule_.ranks * blocks_, no_value);
    std::erase_if(o.to, [&](location const& p) {
      if (p.where != area::output || !copies_[p.layer].is_result) return false;
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

  /// Leaving: an input that is its own result (allgather, broadcast's root) still has to reach the output.
  void list_exit(rank_t r) {
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
    operation leave{operation::kind::leave, r, 0, {}, {}, false};
    for (block_t b = 0; b < blocks_; ++b) {
      slot_t const slot = schedule_.result[r][b];
      if (slot != no_slot)
        leave.from.push_back({area::output, r, copies_.at(r, b, slot), b, copies_[copies_.at(r, b, slot)].value});
    }
    operations_.push_back(std::move(leave));
  }

  schedule::schedule const& schedule_;
  std::vector<char> const& has_messages_;
  std::vector<std::vector<slice>> const& slices_;
  distribution const& distribution_;
  policy const policy_;
  std::vector<rank_t> const& output_of_;
  std::size_t const blocks_;
  value_copies const copies_;
  std::vector<operation> operations_;
  std::vector<std::pair<rank_t, std::uint32_t>> questions_;  ///< whom, and which operation sends them
  std::vector<value_t> shared_results_;  ///< [rank · blocks + block]: what has been written to shared outputs so far
};

}  // namespace

linear_order assign_locations(split_schedule const& s, policy const& p, std::vector<rank_t> const& output_of,
                              distribution const& d) {
  return location_assignment(s, p, output_of, d).run();
}

}  // namespace coset::program
