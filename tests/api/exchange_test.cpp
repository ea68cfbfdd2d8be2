// SPDX-License-Identifier: Apache-2.0
// Pieces that are long, uneven or in place: what arrives, what travels, and what memory it takes.
#include <gmock/gmock.h>

#include <random>

#include "support/counted_new.hpp"
#include "support/hosts.hpp"
#include "team/team_state.hpp"

namespace coset::team_test {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kibibyte = 1024, mebibyte = 1024 * kibibyte;

/// The n-th element of the piece that `from` has for `to`.
std::uint32_t nth(rank_t from, rank_t to, std::size_t n) {
  return static_cast<std::uint32_t>(n * 2654435761u + from * 97 + to * 13);
}

/// How many elements each rank has for each other.
struct traffic {
  rank_t ranks;
  std::vector<std::size_t> counts;

  traffic(rank_t p, std::size_t each) : ranks(p), counts(std::size_t{p} * p, each) {}
  std::size_t& operator()(rank_t from, rank_t to) { return counts[from * ranks + to]; }
  std::size_t operator()(rank_t from, rank_t to) const { return counts[from * ranks + to]; }
  std::vector<std::size_t> sent_by(rank_t from) const { return {&counts[from * ranks], &counts[from * ranks] + ranks}; }
  std::vector<std::size_t> received_by(rank_t to) const {
    std::vector<std::size_t> column;
    for (rank_t from = 0; from < ranks; ++from) column.push_back((*this)(from, to));
    return column;
  }
};

/// What a rank gives, and what it is to get.
struct arrays {
  std::vector<std::uint32_t> in, right;
  arrays(traffic const& all, rank_t r) {
    for (rank_t q = 0; q < all.ranks; ++q) {
      for (std::size_t n = 0; n < all(r, q); ++n) in.push_back(nth(r, q, n));
      for (std::size_t n = 0; n < all(q, r); ++n) right.push_back(nth(q, r, n));
    }
  }
};

traffic random_traffic(rank_t p, std::size_t most, std::uint64_t seed) {
  std::mt19937_64 choices(seed);
  traffic all(p, 0);
  for (auto& count : all.counts) count = choices() % 3 == 0 ? 0 : choices() % (most + 1);
  return all;
}

/// One pair has several messages' worth, and not a whole number of them.
traffic skewed_traffic(rank_t p, std::size_t longest) {
  traffic all(p, 1);
  all(p - 1, 0) = longest;
  return all;
}

std::vector<std::vector<host_shape>> shapes() {
  return {{{1}, {1}}, {{2}, {3}}, {{2, 1}, {2}}, std::vector<host_shape>(18, {1})};
}

TEST(Exchange, OfAnyLengthBetweenProcessesIsRight) {
  for (auto const& shape : shapes()) {
    for (bool const one_proxy : {false, true}) {
      hosts on(shape, one_proxy);
      rank_t const p = on.size();
      std::vector<traffic> const all{traffic(p, 0), random_traffic(p, 3, 1), random_traffic(p, 5000, 2),
                                     skewed_traffic(p, 300'001), skewed_traffic(p, 7)};
      std::vector<int> wrong(p, 0);
      auto const left = on.run([&](member& me) {
        for (traffic const& one : all) {
          arrays mine(one, me.rank());
          std::vector<std::uint32_t> out(mine.right.size());
          all_to_all(me, mine.in, out, one.sent_by(me.rank()), one.received_by(me.rank()));
          mine.in.assign(mine.in.size(), 0);  // nobody reads it any more
          wrong[me.rank()] += out != mine.right ? 1 : 0;
        }
      });
      for (auto const& process : left) EXPECT_EQ(process.message, "");
      EXPECT_EQ(wrong, std::vector<int>(p, 0)) << p << " ranks" << (one_proxy ? ", one proxy" : "");
    }
  }
}

/// Neither is padded to the longest piece, of which each rank would send and keep P.
TEST(Exchange, TakesNoMoreTrafficAndMemoryThanItHas) {
  constexpr rank_t p = 8;
  hosts on(std::vector<host_shape>(p, {1}), false);
  auto const all = skewed_traffic(p, 16 * mebibyte / sizeof(std::uint32_t));
  std::size_t const before_network = on.network().bytes();
  std::size_t most = 0;
  on.run([&](member& me) {
    arrays mine(all, me.rank());
    std::vector<std::uint32_t> out(mine.right.size());
    barrier(me);
    if (me.rank() == 0) test::begin_most();
    std::size_t const before = test::live_bytes();
    barrier(me);
    all_to_all(me, mine.in, out, all.sent_by(me.rank()), all.received_by(me.rank()));
    barrier(me);
    if (me.rank() == 0) most = test::most_live_bytes() - before;
    EXPECT_EQ(out, mine.right);
  });
  EXPECT_LT(on.network().bytes() - before_network, 16 * mebibyte + 64 * kibibyte);
  EXPECT_LT(most, p * (p * 2 * 256 * kibibyte) + 8 * mebibyte);
}

/// All goes through a room of a fixed size, however long it is.
TEST(Exchange, InPlaceThatStagingLacksKeepsNoCopy) {
  for (auto const& shape : {std::vector<host_shape>{{2, 1}, {2}}, std::vector<host_shape>{{3, 2}}}) {
    hosts on(shape, true);
    rank_t const p = on.size();
    traffic const all(p, 300 * kibibyte / sizeof(std::uint32_t));
    std::size_t most = 0;
    std::vector<int> wrong(p, 0);
    on.run([&](member& me) {
      arrays mine(all, me.rank());
      barrier(me);
      if (me.rank() == 0) test::begin_most();
      std::size_t const before = test::live_bytes();
      barrier(me);
      all_to_all(me, mine.in, mine.in);
      barrier(me);
      if (me.rank() == 0) most = test::most_live_bytes() - before;
      wrong[me.rank()] = mine.in != mine.right ? 1 : 0;
    });
    EXPECT_EQ(wrong, std::vector<int>(p, 0));
    EXPECT_LT(most, mebibyte) << "of arrays of " << p * p * 300 << " KiB";
  }
}

TEST(Exchange, GatherAndScatterOfUnevenPiecesKeepNoCopy) {
  hosts on({{2, 1}, {2}}, false);
  rank_t const p = on.size(), root = 3;
  std::vector<std::size_t> const counts{0, 1, 900'000, 70'000, 300'003};
  std::size_t const total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  std::size_t most = 0;
  std::vector<int> wrong(p, 0);
  on.run([&](member& me) {
    bool const is_root = me.rank() == root;
    std::vector<char> mine(counts[me.rank()]), all(is_root ? total : 0), back(mine.size());
    for (std::size_t n = 0; n < mine.size(); ++n) mine[n] = static_cast<char>(nth(me.rank(), 0, n) >> 7);
    barrier(me);
    if (is_root) test::begin_most();
    std::size_t const before = test::live_bytes();
    barrier(me);
    gather(me, mine, all, root, counts);
    scatter(me, all, back, root, counts);
    barrier(me);
    if (is_root) most = test::most_live_bytes() - before;
    std::size_t at = 0;
    for (rank_t r = 0; is_root && r < p; ++r) {
      for (std::size_t n = 0; n < counts[r]; ++n)
        wrong[root] += all[at++] != static_cast<char>(nth(r, 0, n) >> 7) ? 1 : 0;
    }
    wrong[me.rank()] += back != mine ? 1 : 0;
  });
  EXPECT_EQ(wrong, std::vector<int>(p, 0));
  EXPECT_LT(most, 700 * kibibyte) << "of " << total << " bytes";
}

TEST(Exchange, InPlaceOfOneProcessIsStagedInSegments) {
  team ranks({.ranks = 2, .place = placement::unbound});
  traffic const all(2, 12 * mebibyte / sizeof(std::uint32_t));
  ranks.run([&](member& me) {
    arrays mine(all, me.rank());
    all_to_all(me, mine.in, mine.in);
    EXPECT_EQ(mine.in, mine.right);
    EXPECT_LE(me.state().ends[0].capacity, 4 * mebibyte) << "of 24 MiB";
  });
}

TEST(Exchange, OfCountsThatDoNotMatchIsAnErrorOfAllProcesses) {
  hosts on({{2, 1}, {2}}, true);
  auto const left = on.run([&](member& me) {
    std::vector<std::size_t> const sent(me.size(), 2);
    std::vector<std::size_t> received = sent;
    if (me.rank() == 4) received[1] = 3;
    std::vector<int> const in(2 * me.size());
    std::vector<int> out(2 * me.size() + (me.rank() == 4 ? 1 : 0));
    all_to_all(me, in, out, sent, received);
  });
  for (auto const& process : left)
    EXPECT_THAT(process.message, HasSubstr("rank 1 sends 2 elements to rank 4, which expects 3"));
}

}  // namespace
}  // namespace coset::team_test
