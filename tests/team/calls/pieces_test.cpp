// SPDX-License-Identifier: Apache-2.0
// Pieces that only move: all_to_all with counts that each rank knows for itself, and what goes wrong in gather, scatter and
// all_to_all.
#include <random>
#include <stdexcept>

#include "support/teams.hpp"

namespace coset::team_test {
namespace {

/// A struct without an operation: what moves need not be added.
struct particle {
  double at[3];
  rank_t from, to;
  friend bool operator==(particle const&, particle const&) = default;
};

particle nth(rank_t from, rank_t to, std::size_t n) {
  double const x = static_cast<double>(n);
  return {{x, x + from, x * to}, from, to};
}

/// How many elements go from each rank to each.
class traffic {
 public:
  traffic(rank_t ranks, std::size_t most, std::uint64_t seed) : ranks_(ranks), counts_(std::size_t{ranks} * ranks) {
    std::mt19937_64 choices(seed);
    for (auto& count : counts_) count = choices() % 3 == 0 ? 0 : choices() % (most + 1);
  }

  std::size_t operator()(rank_t from, rank_t to) const { return counts_[from * ranks_ + to]; }
  std::vector<std::size_t> sent_by(rank_t from) const {
    std::vector<std::size_t> row;
    for (rank_t to = 0; to < ranks_; ++to) row.push_back((*this)(from, to));
    return row;
  }
  std::vector<std::size_t> received_by(rank_t to) const {
    std::vector<std::size_t> column;
    for (rank_t from = 0; from < ranks_; ++from) column.push_back((*this)(from, to));
    return column;
  }

 private:
  rank_t ranks_;
  std::vector<std::size_t> counts_;
};

std::string exchanged(member& me, traffic const& all) {
  rank_t const r = me.rank();
  std::vector<particle> in, right;
  for (rank_t q = 0; q < me.size(); ++q) {
    for (std::size_t n = 0; n < all(r, q); ++n) in.push_back(nth(r, q, n));
    for (std::size_t n = 0; n < all(q, r); ++n) right.push_back(nth(q, r, n));
  }
  std::vector<particle> const given = in;
  std::vector<particle> out(right.size(), nth(99, 99, 99));
  all_to_all(me, in, out, all.sent_by(r), all.received_by(r));
  in.assign(in.size(), particle{});  // nobody reads it any more
  if (out != right) return "rank " + std::to_string(r) + " of " + std::to_string(me.size()) + " has something else";
  return given.size() == in.size() ? "" : "?";
}

class Pieces : public ::testing::TestWithParam<rank_t> {
 protected:
  team ranks{options_for(GetParam())};
};

TEST_P(Pieces, OfAnyLengthReachTheirRanks) {
  rank_t const p = ranks.size();
  std::vector<traffic> all;
  std::uint64_t seed = test::seed();
  for (std::size_t const most : std::vector<std::size_t>{0, 1, 5, 200, test::by_effort(2'000u, 20'000u, 200'000u) / p})
    for (int k = 0; k < 3; ++k) all.emplace_back(p, most, ++seed);
  std::vector<std::string> faults(p);
  ranks.run([&](member& me) {
    for (traffic const& one : all)
      if (std::string const wrong = exchanged(me, one); faults[me.rank()].empty()) faults[me.rank()] = wrong;
  });
  for (auto const& fault : faults) EXPECT_EQ(fault, "");
}

TEST_P(Pieces, ReachTheirRanksInTeamsThatWereSplit) {
  std::vector<std::string> faults(ranks.size());
  ranks.run([&](member& me) {
    rank_t const r = me.rank();
    member part = me.split(static_cast<int>(r % 2), -static_cast<int>(r));
    rank_t const p = part.size(), root = p - 1;
    std::vector<int> in(p * 5), out(p * 5), mine(5, int(part.rank())), back(5);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = int(part.rank() * 1000 + i);
    all_to_all(part, in, out);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (out[i] != int(i / 5 * 1000 + part.rank() * 5 + i % 5)) faults[r] = "all_to_all";
    std::vector<int> all(part.rank() == root ? p * 5 : 0);
    gather(part, mine, all, root);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i] != int(i / 5)) faults[r] = "gather";
    scatter(part, all, back, root);
    if (back != mine) faults[r] = "scatter";
    if (std::string const wrong = exchanged(part, traffic(p, 40, r % 2)); !wrong.empty()) faults[r] = wrong;
  });
  for (auto const& fault : faults) EXPECT_EQ(fault, "");
}

TEST_P(Pieces, OfAnotherLengthThanExpectedAreAnErrorOnAllRanks) {
  rank_t const p = ranks.size();
  auto const all = outcomes(ranks, [&](member& me) {
    std::vector<std::size_t> sent(p, 2), received(p, 2);
    if (me.rank() == p / 2) received[p - 1] = 3;
    std::vector<int> const in(2 * p);
    std::vector<int> out(me.rank() == p / 2 ? 2 * p + 1 : 2 * p);
    all_to_all(me, in, out, sent, received);
  });
  expect_everybody_threw<argument_error>(all, {"rank " + std::to_string(p - 1) + " sends 2 elements to rank " +
                                               std::to_string(p / 2) + ", which expects 3"});
  expect_works(ranks);
}

TEST_P(Pieces, OfOtherElementsAreAnErrorOnAllRanks) {
  if (ranks.size() < 2) return;
  auto const all = outcomes(ranks, [&](member& me) {
    std::vector<std::size_t> const counts(me.size(), 2);
    std::vector<int> const in(2 * me.size());
    std::vector<float> const other(2 * me.size());
    std::vector<int> out(2 * me.size());
    std::vector<float> other_out(2 * me.size());
    me.rank() == 0 ? all_to_all(me, other, other_out, counts, counts) : all_to_all(me, in, out, counts, counts);
  });
  expect_everybody_threw<argument_error>(all, {"sends other elements to rank"});
  expect_works(ranks);
}

TEST_P(Pieces, WhoseCountsDoNotAddUpAreAnErrorOnAllRanks) {
  auto const all = outcomes(ranks, [&](member& me) {
    std::vector<std::size_t> counts(me.size(), 2);
    if (me.rank() == 0) counts[0] = 7;
    std::vector<int> const in(2 * me.size());
    std::vector<int> out(2 * me.size());
    all_to_all(me, in, out, counts, counts);
  });
  expect_everybody_threw<argument_error>(all, {"send counts"});
  auto const uneven = outcomes(ranks, [&](member& me) {
    std::vector<int> const in(3 * me.size() + 1);
    std::vector<int> out(3 * me.size() + 1);
    me.size() == 1 ? throw argument_error("equal pieces") : all_to_all(me, in, out);
  });
  expect_everybody_threw<argument_error>(uneven, {"equal pieces"});
  auto const overlapping = outcomes(ranks, [&](member& me) {
    std::vector<std::size_t> const counts(me.size(), 2);
    std::vector<int> both(2 * me.size());
    all_to_all(me, both, both, counts, counts);
  });
  expect_everybody_threw<argument_error>(overlapping, {"overlap"});
  expect_works(ranks);
}

TEST_P(Pieces, WithoutSuchARootOrLengthAreAnErrorOnAllRanks) {
  rank_t const p = ranks.size();
  auto const no_root = outcomes(ranks, [&](member& me) {
    std::vector<int> const in(2);
    std::vector<int> out(2 * p);
    gather(me, in, out, p);
  });
  expect_everybody_threw<argument_error>(no_root, {"there is no root " + std::to_string(p)});
  auto const short_output = outcomes(ranks, [&](member& me) {
    std::vector<int> const in(2);
    std::vector<int> out(2 * p - 1);
    gather(me, in, out, p - 1);
    barrier(me);  // ranks that had no more to do learn of it here
  });
  expect_everybody_threw<argument_error>(short_output, {"gather, all pieces"});
  auto const long_input = outcomes(ranks, [&](member& me) {
    std::vector<int> const in(2 * p + 1);
    std::vector<int> out(2);
    scatter(me, in, out, 0);
    barrier(me);
  });
  expect_everybody_threw<argument_error>(long_input, {"scatter, all pieces"});
  expect_works(ranks);
}

TEST_P(Pieces, OfRanksThatDisagreeAreAMismatchOnAllRanks) {
  rank_t const p = ranks.size();
  if (p < 2) return;
  auto const expect_mismatch = [&](auto call, std::vector<std::string> const& words = {}) {
    auto const all = outcomes(ranks, [&](member& me) {
      std::vector<int> in(6 * p), out(6 * p);
      call(me, std::span(in), std::span(out), me.rank() == p - 1);
      barrier(me);
    });
    expect_everybody_threw<mismatch_error>(all, words);
  };
  expect_mismatch([&](member& me, auto in, auto out, bool other) {
    all_to_all(me, in.first((other ? 6 : 3) * p), out.first((other ? 6 : 3) * p));
  });
  expect_mismatch(
      [&](member& me, auto in, auto out, bool other) { gather(me, in.first(3), out.first(3 * p), other ? 0 : p - 1); });
  expect_mismatch([&](member& me, auto in, auto out, bool other) {
    other ? scatter(me, in.first(3 * p), out.first(3), 0) : gather(me, in.first(3), out.first(3 * p), 0);
  });
  auto const with_counts_or_without = [&](member& me, auto in, auto out, bool other) {
    std::vector<std::size_t> const counts(p, 3);
    other ? all_to_all(me, in.first(3 * p), out.first(3 * p))
          : all_to_all(me, in.first(3 * p), out.first(3 * p), counts, counts);
  };
  expect_mismatch(with_counts_or_without,
                  {"all_to_all of " + std::to_string(p) + " pieces of any length", std::to_string(3 * p) + " int"});
  expect_works(ranks);
}

TEST_P(Pieces, OfARankThatThrowsInsteadAreAnErrorOnAllOthers) {
  rank_t const p = ranks.size();
  for (int const which : {0, 1, 2}) {
    std::vector<outcome> all(p);
    auto const thrown = outcome_of([&] {
      ranks.run([&](member& me) {
        if (me.rank() == p - 1) throw std::range_error("of the user");
        all[me.rank()] = outcome_of([&] {
          std::vector<std::size_t> const counts(p, 40'000);
          std::vector<int> in(p * 40'000), out(p * 40'000);
          if (which == 0) gather(me, std::span(in).first(40'000), out, p - 1);
          if (which == 1) all_to_all(me, in, out);
          if (which == 2) all_to_all(me, in, out, counts, counts);
          barrier(me);
        });
      });
    });
    EXPECT_EQ(thrown.message, "of the user");
    for (rank_t r = 0; r + 1 < p; ++r) EXPECT_EQ(all[r].type, type_name<aborted>()) << all[r].message;
    expect_works(ranks);
  }
}

TEST_P(Pieces, MayLieInTheRootsOwnArray) {
  rank_t const p = ranks.size(), root = p / 2;
  for (std::size_t const each : {std::size_t{3}, std::size_t{5000}}) {
    std::vector<int> right(p);
    ranks.run([&](member& me) {
      bool const is_root = me.rank() == root;
      std::vector<long> whole(is_root ? p * each : 0), piece(each, long(me.rank()) + 1);
      std::span<long> mine = piece;
      if (is_root) {
        mine = std::span(whole).subspan(root * each, each);
        std::ranges::fill(mine, long(root) + 1);
      }
      gather(me, mine, whole, root);
      bool good = true;
      for (std::size_t i = 0; i < whole.size(); ++i) good &= whole[i] == long(i / each) + 1;
      for (long& x : whole) x *= 3;
      scatter(me, whole, mine, root);
      for (long const x : mine) good &= x == 3 * (long(me.rank()) + 1);
      right[me.rank()] = good;
    });
    EXPECT_EQ(std::count(right.begin(), right.end(), 1), p) << each;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Pieces,
                         ::testing::ValuesIn(test::by_effort<std::vector<rank_t>>({1, 2, 3, 6}, {1, 2, 3, 4, 6, 13},
                                                                                  {1, 2, 3, 4, 5, 7, 8, 13, 17, 32})),
                         size_name);

}  // namespace
}  // namespace coset::team_test
