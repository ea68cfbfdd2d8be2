// SPDX-License-Identifier: Apache-2.0
// Node-bound memory: zeroed, where it was asked for, and usable whatever the system refuses.
#include "numa/memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>

#include "coset/topology.hpp"

namespace coset::numa_test {
namespace {

using numa::memory;

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

bool is_aligned(memory const& piece, std::size_t to) {
  return reinterpret_cast<std::uintptr_t>(piece.data()) % to == 0;
}

bool is_zero(memory const& piece) {
  return std::all_of(piece.data(), piece.data() + piece.size(), [](std::byte each) { return each == std::byte{}; });
}

TEST(Memory, OfAnySizeIsZeroedAndPageAligned) {
  auto const page = numa::page_bytes();
  for (std::size_t const bytes :
       {std::size_t{1}, page - 1, page, page + 1, huge_page_bytes - 1, huge_page_bytes, huge_page_bytes + 1}) {
    memory const piece(bytes);
    EXPECT_EQ(piece.size(), bytes);
    EXPECT_TRUE(is_aligned(piece, page)) << bytes;
    EXPECT_TRUE(is_zero(piece)) << bytes;
    std::fill_n(piece.data(), bytes, std::byte{255});
  }
}

TEST(Memory, OfHugePagesSizeIsAlignedToThem) {
  for (int repetition = 0; repetition < 8; ++repetition)
    EXPECT_TRUE(is_aligned(memory(huge_page_bytes + numa::page_bytes()), huge_page_bytes));
}

TEST(Memory, OfNoBytesIsNothing) {
  memory piece(0);
  EXPECT_EQ(piece.data(), nullptr);
  EXPECT_EQ(piece.size(), 0U);
  EXPECT_TRUE(piece.bind(0, 0, 0));
}

TEST(Memory, ThatDoesNotExistIsBadAlloc) {
  for (auto const bytes : {std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max() / 2})
    EXPECT_THROW(memory{bytes}, std::bad_alloc);
}

TEST(Memory, MovesItsPages) {
  memory first(100);
  auto* const data = first.data();
  data[99] = std::byte{7};
  memory second(std::move(first));
  EXPECT_EQ(first.data(), nullptr);
  EXPECT_EQ(second.data(), data);
  memory third(numa::page_bytes());
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third.size(), 100U);
  EXPECT_EQ(third.data()[99], std::byte{7});
  EXPECT_EQ(second.size(), 0U);
}

// On one node this says little; on several, that each piece is where it was bound, whoever touches it.
TEST(Memory, BoundPiecesLieOnTheirNodes) {
  auto const nodes = topology::machine().nodes;
  auto const page = numa::page_bytes();
  for (std::size_t const pages_per_node : {std::size_t{1}, std::size_t{5}, huge_page_bytes / page}) {
    auto const bytes = pages_per_node * page;
    memory piece(nodes.size() * bytes);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (!piece.bind(i * bytes, bytes, nodes[i].os_index)) GTEST_SKIP() << "the system does not bind memory";
    std::fill_n(piece.data(), piece.size(), std::byte{1});
    for (std::size_t i = 0; i < nodes.size(); ++i)
      for (std::size_t at = i * bytes; at < (i + 1) * bytes; at += page)
        ASSERT_EQ(numa::node_of(piece.data() + at), nodes[i].os_index) << "offset " << at;
  }
}

TEST(Memory, RefusedByTheSystemWorksAllTheSame) {
  memory piece(3 * huge_page_bytes);
  for (unsigned const absent : {1000U, 100000U}) EXPECT_FALSE(piece.bind(0, piece.size(), absent));
  EXPECT_TRUE(is_zero(piece));
}

// To name node 2^32 − 1 would take a mask of 512 MiB.
TEST(Memory, BoundToNoNodeTakesNoMore) {
  auto const most_so_far = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
  };
  memory piece(4 * numa::page_bytes());
  auto const before = most_so_far();
  EXPECT_FALSE(piece.bind(0, piece.size(), std::numeric_limits<unsigned>::max()));
  EXPECT_LT(most_so_far() - before, 100 * 1024);
}

TEST(Memory, OfLessThanAPageBelongsToItsNeighbours) {
  memory piece(3 * numa::page_bytes());
  EXPECT_TRUE(piece.bind(1, numa::page_bytes(), 100000)) << "no whole page inside, so nothing to refuse";
  EXPECT_FALSE(piece.bind(1, 2 * numa::page_bytes(), 100000)) << "page 1 is inside";
  memory tail(numa::page_bytes() + 1);
  EXPECT_FALSE(tail.bind(numa::page_bytes(), 1, 100000)) << "nobody shares the rest of the last page";
}

TEST(Memory, NeverTouchedIsOnNoNode) {
  memory const piece(numa::page_bytes());
  EXPECT_FALSE(numa::node_of(piece.data()));
  EXPECT_FALSE(numa::node_of(nullptr));
}

}  // namespace
}  // namespace coset::numa_test
