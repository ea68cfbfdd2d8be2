// SPDX-License-Identifier: Apache-2.0
// The word that a misspelt one was meant for.
#include "base/text/suggestion.hpp"

#include <gtest/gtest.h>

namespace coset::text {
namespace {

std::vector<std::string> const known{"ring", "direct", "recursive_doubling"};

TEST(Suggestion, LettersThatAreMissingWrongOrExchangedAreForgiven) {
  for (auto const& [word, meant] : {std::pair{"rign", "ring"},
                                    {"rng", "ring"},
                                    {"dirrect", "direct"},
                                    {"durect", "direct"},
                                    {"recursive_dubling", "recursive_doubling"}})
    EXPECT_EQ(did_you_mean(word, known), "; did you mean '" + std::string(meant) + "'?");
}

TEST(Suggestion, WhatIsFarFromAllWordsGetsNone) {
  EXPECT_EQ(did_you_mean("tree", known), "");
  EXPECT_EQ(did_you_mean("ring", {}), "");
  EXPECT_EQ(none_of("x", known), "'x' is none of ring, direct, recursive_doubling");
}

TEST(Suggestion, TheNearestIsThere) { EXPECT_EQ(nearest("derict", known), "direct"); }

}  // namespace
}  // namespace coset::text
