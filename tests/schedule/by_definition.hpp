// SPDX-License-Identifier: Apache-2.0
// What a schedule's verb is by definition, block by block: the oracle, asked for one element of each rank's piece.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "planning/schedule/core/schedule.hpp"
#include "support/oracle.hpp"

namespace coset::schedule::testing {

class definition {
 public:
  /// The schedule of a barrier, which is about no elements, tells every rank of all others, as an allreduce does.
  explicit definition(schedule const& s)
      : task_{.what = s.verb == verb::barrier ? verb::allreduce : s.verb,
              .counts = team_test::even_counts(s.ranks, 1),
              .root = s.root.value_or(0)} {
    for (block const& b : s.blocks) {
      rank_t r = 0;
      while (r + 1 < s.ranks && fraction(std::int64_t{r} + 1, s.ranks) <= b.offset) ++r;
      homes_.push_back(r);
    }
  }

  /// The piece of rank r's input, and that of its result, in which a block begins. In an all_to_all blocks go round: they are
  /// for the rank so much further on, and of the one as much before.
  rank_t given_in(rank_t r, block_t b) const { return swaps() ? (r + homes_[b]) % task_.ranks() : homes_[b]; }
  rank_t got_in(rank_t r, block_t b) const {
    return swaps() ? (r + task_.ranks() - homes_[b]) % task_.ranks() : homes_[b];
  }

  bool has_input(rank_t r, block_t b) const { return team_test::given_by(task_, r).contains(given_in(r, b)); }

  /// [block]: the ranks first … second − 1, whose contributions rank r must end with.
  std::vector<std::pair<rank_t, rank_t>> contributors(rank_t r) const {
    std::vector<std::pair<rank_t, rank_t>> all(homes_.size());
    auto const parts = team_test::parts_of(task_, r);
    for (block_t b = 0; b < homes_.size(); ++b)
      for (team_test::part const& p : parts)
        if (p.of.contains(got_in(r, b))) all[b] = {p.begin, p.end};
    return all;
  }

 private:
  bool swaps() const { return task_.what == verb::all_to_all; }

  team_test::task const task_;
  std::vector<rank_t> homes_;  ///< [block]: the rank in whose piece of the vector it begins
};

}  // namespace coset::schedule::testing
