// SPDX-License-Identifier: Apache-2.0
// Where blocks and staging layers begin, for any count and element size.
#include "planning/program/bind.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "calls.hpp"
#include "effort.hpp"

namespace coset::program::testing {
namespace {

constexpr std::size_t line = 64;

/// Equal blocks and unequal ones, one staging layer and several, none at all.
std::vector<compiled> programs() {
  std::vector<compiled> all;
  for (std::string const algorithm : {"direct", "direct(saved_steps=1)", "recursive_doubling", "unequal(nodes=4+3)"}) {
    for (std::string const storage : {"staged", "zero_copy"})
      all.push_back(*call_of(plan_of(algorithm, 7), storage).code);
  }
  all.push_back(*call_of(plan_of("direct", 1), "staged").code);
  all.push_back(*call_of(plan_of("generalized", 13), "staged").code);
  for (std::string const storage : {"staged", "zero_copy"}) {
    policy wide = storage_of(storage, arrays::apart);
    wide.widens = true;
    all.push_back(*call_of(plan_of("ring", 5), wide).code);
    EXPECT_TRUE(all.back().wide);
  }
  return all;
}

std::size_t quantum(std::size_t element_bytes) { return std::lcm(line, element_bytes) / element_bytes; }

/// ⌊count · f⌋ by long division, bit by bit of the count.
std::size_t exact(std::size_t count, schedule::fraction f) {
  auto const numerator = static_cast<std::size_t>(f.numerator());
  auto const denominator = static_cast<std::size_t>(f.denominator());
  std::size_t whole = 0, rest = 0;
  for (int bit = 63; bit >= 0; --bit) {
    rest = rest * 2 + (count >> bit & 1) * numerator;
    whole = whole * 2 + rest / denominator;
    rest %= denominator;
  }
  return whole;
}

/// Staging has room for partial results where the program has any; these are twice as wide here.
void expect_right(compiled const& c, std::size_t count, std::size_t element_bytes) {
  SCOPED_TRACE(fmt::format("{} ranks, {} blocks, {} layers, {} elements of {} bytes{}", c.ranks, c.blocks.size(),
                           c.layers, count, element_bytes, c.wide ? ", wide" : ""));
  layout const l = coset::program::bind(c, count, {element_bytes, 2 * element_bytes});
  std::size_t const blocks = c.blocks.size(), staged_bytes = c.wide ? 2 * element_bytes : element_bytes;
  ASSERT_EQ(l.boundary.size(), blocks + 1);
  ASSERT_EQ(l.offset.size(), blocks * (1 + c.layers));
  EXPECT_EQ(l.boundary.front(), 0u);
  EXPECT_EQ(l.boundary.back(), count);
  std::size_t const step = count / blocks > 4 * quantum(element_bytes) ? quantum(element_bytes) : 1;
  for (std::size_t b = 0; b < blocks; ++b) {
    EXPECT_LE(l.boundary[b], l.boundary[b + 1]);
    EXPECT_EQ(l.boundary[b], exact(count, c.blocks[b].offset) / step * step);
    EXPECT_EQ(l.offset[b], l.boundary[b] * element_bytes);
    for (std::size_t layer = 1; layer <= c.layers; ++layer)
      EXPECT_EQ(l.offset[layer * blocks + b], l.offset[layer * blocks] + l.boundary[b] * staged_bytes);
  }
  for (std::size_t layer = 1; layer <= c.layers; ++layer) {
    std::size_t const begin = l.offset[layer * blocks], end = begin + count * staged_bytes;
    EXPECT_EQ(begin % line, 0u);
    std::size_t const next = layer < c.layers ? l.offset[(layer + 1) * blocks] : l.staging_bytes;
    EXPECT_LE(end, next);
    EXPECT_LT(next, end + line) << "more staging than lines need";
  }
}

TEST(Bind, TilesEveryVectorAtLineBordersAndKeepsLayersApart) {
  for (compiled const& c : programs()) {
    for (std::size_t element_bytes = 1; element_bytes <= 16; ++element_bytes) {
      for (std::size_t count = 0; count <= 1000; count += test::by_effort<std::size_t>(37, 1, 1)) {
        expect_right(c, count, element_bytes);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Bind, DoesNotOverflowForHugeCounts) {
  for (compiled const& c : programs()) {
    for (std::size_t element_bytes : {1, 3, 8, 12, 16}) {
      for (std::size_t count : {std::size_t{1} << 32, (std::size_t{1} << 40) - 1, (std::size_t{1} << 56) + 12345})
        expect_right(c, count, element_bytes);
    }
  }
}

TEST(Bind, GivesNoBlockMoreThanItsShareAndAQuarterOfIt) {
  compiled const c = *call_of(plan_of("direct", 7), "staged").code;
  for (std::size_t element_bytes : {1, 3, 12, 15, 24, 100, 1000}) {
    for (std::size_t count = 7; count <= 7000; count += 7) {
      layout const l = coset::program::bind(c, count, {element_bytes});
      for (std::size_t b = 0; b < 7; ++b)
        ASSERT_LE(4 * (l.boundary[b + 1] - l.boundary[b]), 5 * (count / 7))
            << count << " elements of " << element_bytes << " bytes, block " << b;
    }
  }
}

TEST(Bind, PutsLayersSideBySideWhereTheyLieInAnEntryLine) {
  for (home const where : {home::entry_line, home::second_line}) {
    policy storage = storage_of("staged", arrays::apart);
    storage.staging = where;
    compiled const c = *call_of(plan_of("recursive_doubling", 8), storage).code;
    ASSERT_GE(c.layers, 2u);
    for (std::size_t element_bytes = 1; element_bytes <= 16; ++element_bytes) {
      layout const l = coset::program::bind(c, 1, {element_bytes});
      for (std::size_t layer = 0; layer < c.layers; ++layer)
        EXPECT_EQ(l.offset[(1 + layer) * c.blocks.size()], layer * element_bytes);
      EXPECT_EQ(l.staging_bytes, 0u);
    }
  }
}

TEST(Bind, FollowsThePiecesOfTheCallersChoice) {
  call const c = call_of(plan_of("recursive_doubling", 5, verb::reduce_scatter), "staged");
  std::vector<std::size_t> const pieces{0, 3, 3, 1000, 1001, 1500};
  layout const l = coset::program::bind(*c.code, pieces, {4});
  for (std::size_t b = 0; b < c.code->blocks.size(); ++b) {
    schedule::fraction const at = c.code->blocks[b].offset * 5;
    auto const piece = static_cast<std::size_t>(at.floor());
    EXPECT_LE(pieces[piece], l.boundary[b]);
    EXPECT_LE(l.boundary[b + 1], pieces[piece + 1]);
    EXPECT_TRUE(at != schedule::fraction(at.floor()) || l.boundary[b] == pieces[piece]);
  }
  EXPECT_EQ(l.boundary.back(), 1500u);
}

TEST(Bind, CutsBlocksOutOfTheCallersPieces) {
  compiled c;
  c.ranks = 2;
  c.blocks = {{{0, 1}, {1, 8}}, {{1, 8}, {3, 8}}, {{1, 2}, {1, 3}}, {{5, 6}, {1, 6}}};
  c.storage.staging = home::pieces;
  layout const l = coset::program::bind(c, std::vector<std::size_t>{0, 7, 1007}, {4});
  EXPECT_EQ(l.boundary, (std::vector<std::size_t>{0, 7 / 4, 7, 7 + 1000 * 2 / 3, 1007}));
}

}  // namespace
}  // namespace coset::program::testing
