// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/parts/joined.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace coset::schedule {
namespace {

class joining {
 public:
  explicit joining(std::span<part const> parts) : parts_(parts) {
    std::vector<fraction> cuts{1};
    for (part const& p : parts_) {
      for (block const& b : p.own.blocks) cuts.push_back(b.offset);
    }
    std::ranges::sort(cuts);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) made_.blocks.push_back({cuts[c], cuts[c + 1] - cuts[c]});
    for (part const& p : parts_) {
      auto& first = first_.emplace_back();
      for (block const& b : p.own.blocks)
        first.push_back(static_cast<block_t>(std::ranges::lower_bound(cuts, b.offset) - cuts.begin()));
      first.push_back(static_cast<block_t>(made_.blocks.size()));
    }
  }

  schedule run() && {
    part const& last = parts_.back();
    made_.verb = last.own.verb;
    made_.ranks = last.first + last.own.ranks;
    made_.idempotent_only = last.own.idempotent_only;
    require_room(made_.ranks, made_.blocks.size());
    for (std::size_t h = 0; h < parts_.size(); ++h) note_departures(h);
    for (std::size_t h = 0; h < parts_.size(); ++h) add(h);
    std::erase_if(made_.steps, [](auto const& step) { return step.empty(); });
    return std::move(made_);
  }

 private:
  template <class Visit>
  void for_each_block(std::size_t host, block_t of_part, Visit visit) const {
    for (block_t b = first_[host][of_part]; b < first_[host][of_part + 1]; ++b) visit(b);
  }

  void note_departures(std::size_t host) {
    rank_t const first = parts_[host].first;
    for (auto const& step : parts_[host].departures) {
      for (departure const& d : step)
        for_each_block(host, d.block, [&](block_t b) { sent_[{first + d.from, d.named, b}] = d.slot; });
    }
  }

  void add(std::size_t host) {
    part const& p = parts_[host];
    made_.steps.resize(std::max(made_.steps.size(), p.own.steps.size()));
    for (std::size_t i = 0; i < p.own.steps.size(); ++i) {
      for (assignment const& a : p.own.steps[i])
        for_each_block(host, a.block, [&](block_t b) { add(p, a, b, made_.steps[i]); });
    }
    for (auto const& slots : p.own.result) {
      auto& row = made_.result.emplace_back();
      for (block_t of_part = 0; of_part < slots.size(); ++of_part)
        for_each_block(host, of_part, [&](block_t) { row.push_back(slots[of_part]); });
    }
    if (p.own.root) made_.root = p.first + *p.own.root;
  }

  void add(part const& p, assignment a, block_t b, std::vector<assignment>& to) {
    auto const first = static_cast<std::uint32_t>(made_.sources.size());
    for (source const& s : p.own.from(a)) made_.sources.push_back(found(p, s, b));
    to.push_back({p.first + a.rank, b, a.slot, first, a.count});
  }

  source found(part const& p, source s, block_t b) const {
    if (s.rank < p.own.ranks) return {p.first + s.rank, s.slot};
    remote_value const& value = p.remote[s.slot];
    auto const at = sent_.find({value.rank, value.slot, b});
    if (at == sent_.end())
      throw schedule_error("rank " + std::to_string(value.rank) + " does not send what another host reads of block " +
                           std::to_string(b));
    return {value.rank, at->second};
  }

  std::span<part const> parts_;
  std::vector<std::vector<block_t>> first_;                     ///< [part][its block]: of the whole's
  std::map<std::tuple<rank_t, slot_t, block_t>, slot_t> sent_;  ///< the slot of what has this name
  schedule made_;
};

}  // namespace

schedule joined(std::span<part const> parts) { return joining(parts).run(); }

}  // namespace coset::schedule
