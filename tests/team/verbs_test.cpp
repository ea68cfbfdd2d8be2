// SPDX-License-Identifier: Apache-2.0
// Every verb, on every rank, for every kind of length, against a serial reference.
#include <set>

#include "support/verbs.hpp"

namespace coset::team_test {
namespace {

/// Per rank: in the entry lines, staged, and read in peers' arrays.
std::vector<std::size_t> const lengths{0, 1, 3, 17, 300, 5000};

struct Verbs : ::testing::TestWithParam<std::tuple<verb, rank_t>> {
  verb const what = std::get<0>(GetParam());
  team ranks{options_for(std::get<1>(GetParam()))};

  void check(task const& wanted) {
    task const t = possible(wanted);
    erased_task const of_longs = folded(summed<long>(t));
    std::vector<long> shared(t.total());
    std::vector<std::string> faults(ranks.size());
    ranks.run([&](member& me) {
      rank_t const r = me.rank();
      for (bool const split : {false, true}) {
        auto mine = prepared<long>(t, r);
        std::vector<long> viewed;
        auto const s = spans_of<long>(t, r, mine, shared);
        if (split && t.what != verb::allreduce_view) {
          start(me, t, s).wait();
        } else {
          call(me, t, s, viewed);
        }
        if (faults[r].empty()) faults[r] = fault_of(of_longs, r, mine, shared, viewed);
        if (t.what == verb::reduce_shared) barrier(me);  // all have looked at it
      }
    });
    for (auto const& f : faults) ASSERT_EQ(f, "");
  }

  /// Only rooted verbs tell one root from another.
  std::set<rank_t> roots() const {
    rank_t const p = ranks.size();
    return detail::is_rooted(what) ? std::set<rank_t>{0, p / 2, p - 1} : std::set<rank_t>{0};
  }
};

TEST_P(Verbs, GiveEveryRankWhatTheyPromise) {
  rank_t const p = ranks.size();
  std::uint64_t seed = 0;
  bool const every_pair = p <= 4 || test::wanted_effort() == test::effort::large;
  std::vector<std::size_t> const few{0, 3, 300};
  for (std::size_t const each : test::by_effort(few, p > 4 ? few : lengths, lengths)) {
    if (what == verb::barrier && each > 0) continue;
    for (rank_t const root : roots()) {
      for (bool const in_place : {false, true}) {
        if (in_place && !can_be_in_place(what)) continue;
        task t{.what = what,
               .counts = even_counts(p, each),
               .even = true,
               .root = root,
               .in_place = in_place,
               .seed = ++seed};
        // Elsewhere by turns, which the number of ranks shifts, as the loops are the same for all.
        bool const has_turn = every_pair || (seed + seed / 2 + p) % 2 == 0, all_of_one = what == verb::all_to_all;
        if (has_turn || all_of_one) check(t);
        t.even = false;
        for (rank_t r = 0; r < p; ++r) t.counts[r] = (each * (r * 7 % 5) + r % 3) / 2;
        if ((every_pair || !has_turn) && !all_of_one) check(t);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Verbs, OfLargeArraysDoTheSame) {
  rank_t const p = ranks.size();
  std::size_t const large = test::by_effort<std::size_t>(150'000, 200'000, 4'000'000);
  bool const by_turns = test::wanted_effort() != test::effort::large && can_be_in_place(what);
  for (bool const in_place : {false, true}) {
    if (in_place && !can_be_in_place(what)) continue;
    if (by_turns && in_place != ((p + static_cast<rank_t>(what)) % 2 == 0)) continue;
    check({.what = what,
           .counts = even_counts(p, large / p),
           .even = true,
           .root = p / 2,
           .in_place = in_place,
           .seed = 5});
  }
}

/// Where another storage takes over, and one element before and behind: in entry lines, second lines, staging, outputs.
TEST_P(Verbs, DoTheSameAtTheBoundariesOfStorage) {
  rank_t const p = ranks.size();
  if (p > test::by_effort<rank_t>(4, 4, 32)) return;
  std::uint64_t seed = 0;
  for (std::size_t const bytes :
       {40, 64, 1 << 10, 2 << 10, 4 << 10, 64 << 10, 128 << 10, 512 << 10, 1 << 20, 2 << 20}) {
    if (bytes > test::by_effort<std::size_t>(128 << 10, 2 << 20, 2 << 20)) break;
    for (std::size_t const total : {bytes / sizeof(long) - 1, bytes / sizeof(long), bytes / sizeof(long) + 1}) {
      task t{.what = what, .root = p / 2, .in_place = can_be_in_place(what) && ++seed % 2 == 0, .seed = seed};
      for (rank_t r = 0; r < p; ++r) t.counts.push_back(total * (r + 1) / p - total * r / p);
      check(t);
      if (HasFatalFailure()) return;
    }
  }
}

std::string verb_and_size(::testing::TestParamInfo<std::tuple<verb, rank_t>> const& info) {
  return std::string(name_of(std::get<0>(info.param))) + "_P" + std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(All, Verbs,
                         ::testing::Combine(::testing::ValuesIn(all_verbs().begin(), all_verbs().end()),
                                            ::testing::ValuesIn(team_sizes())),
                         verb_and_size);

}  // namespace
}  // namespace coset::team_test
