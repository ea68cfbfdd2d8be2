// SPDX-License-Identifier: Apache-2.0
// One block stands for all.
#include "planning/schedule/groups/symmetric_proof.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_set>
#include <utility>

#include "planning/schedule/groups/block_values.hpp"
#include "planning/schedule/groups/symmetric_bits.hpp"

namespace coset::schedule {
namespace {

/// Steps, volumes and peers are those of any rank, over all its blocks.
void count_reads(symmetric_schedule const& s, block_values const& values, properties& found) {
  std::int64_t received = 0, combined = 0;
  std::vector<std::pair<element, value_t>> reads;
  for (auto const& step : s.steps) {
    reads.clear();
    for (symmetric_assignment const& a : step) {
      combined += std::int64_t{a.count} - 1;
      for (std::uint32_t i = a.first; i < a.first + a.count; ++i)
        if (s.sources[i].displacement != 0) reads.emplace_back(s.sources[i].displacement, values.source(i));
    }
    std::ranges::sort(reads);
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    received += std::ssize(reads);
    found.steps += !reads.empty();
    auto const same_peer = [](auto const& a, auto const& b) { return a.first == b.first; };
    reads.erase(std::unique(reads.begin(), reads.end(), same_peer), reads.end());
    found.fan_in = std::max(found.fan_in, static_cast<std::uint32_t>(reads.size()));
  }
  std::int64_t const parts = s.whole ? 1 : std::int64_t{s.ranks.order()};
  found.sent_max = found.received_max = fraction(received, parts);
  found.combined_max = fraction(combined, parts);
}

/// Proves the results of one block, and tells how they are bracketed.
class proof {
 public:
  proof(symmetric_schedule const& s, verb what)
      : s_(s), what_(what), values_(s, detail::gives_pieces(what)), origin_(values_.size()) {
    std::iota(origin_.begin(), origin_.end(), value_t{0});
    for (auto const& step : s.steps)
      for (symmetric_assignment const& a : step)
        if (a.count == 1 && !s.whole) origin_[values_.at(a.lag, a.slot)] = origin_[values_.source(a.first)];
  }

  properties run() {
    properties found;
    found.volume_bound = volume_bound(what_, s_.ranks.order());
    count_reads(s_, values_, found);
    prove_results();
    auto const kept = kept_in(s_, values_, results_);
    found.rank_uniform =
        kept.same_bits || !detail::folds_for_all(what_);  // the others replicate nothing that is folded
    found.ordered = kept.order;
    return found;
  }

 private:
  [[noreturn]] static void refuse(element lag, char const* why) {
    throw schedule_error("result of lag " + std::to_string(lag) + ": " + why);
  }

  void prove_results() {
    bool const moves = detail::gives_pieces(what_);
    std::unordered_set<value_t> proved;
    for (element lag = 0; lag < s_.result.size(); ++lag) {
      bool const is_wanted = lag == 0 || !detail::gets_pieces(what_);
      if (is_wanted != (s_.result[lag] != no_slot)) refuse(lag, is_wanted ? "missing" : "there must be none");
      if (!is_wanted) continue;
      value_t const result = origin_[values_.at(lag, s_.result[lag])];
      if (!proved.insert(result).second) continue;
      bool const is_right = moves ? result == values_.at(0, 0) : has_all(lag, result);
      if (!is_right) refuse(lag, "does not hold exactly the contributions that it has to");
      results_.push_back(result);
    }
  }

  /// Whether every rank's input is in it once.
  bool has_all(element lag, value_t result) const {
    std::vector<char> seen(s_.ranks.order(), 0);
    std::size_t left = seen.size();
    std::vector<std::pair<value_t, element>> open{{result, values_.made(result) ? values_.made(result)->lag : lag}};
    while (!open.empty()) {
      auto const [v, rank] = open.back();
      open.pop_back();
      symmetric_assignment const* const a = values_.made(v);
      if (a == nullptr) {
        if (!values_.exists(v) || std::exchange(seen[rank], 1) != 0) return false;
        --left;
        continue;
      }
      for (std::uint32_t i = a->first; i < a->first + a->count; ++i)
        open.emplace_back(values_.source(i), s_.ranks.add(rank, s_.sources[i].displacement));
      if (open.size() > left) return false;  // each holds a contribution at least
    }
    return left == 0;
  }

  symmetric_schedule const& s_;
  verb const what_;
  block_values const values_;
  std::vector<value_t> origin_;   // by value: of which it is a copy
  std::vector<value_t> results_;  // each once, before it was copied
};

}  // namespace

properties validate(symmetric_schedule const& s, verb what) { return proof(s, what).run(); }

}  // namespace coset::schedule
