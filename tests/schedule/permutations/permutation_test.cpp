// SPDX-License-Identifier: Apache-2.0
// Every algorithm with its ranks in another order: right for every verb, the same steps and volumes, the right pieces.
#include "planning/schedule/registry/permutation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "planning/schedule/parts/joined.hpp"
#include "planning/schedule/parts/make_part.hpp"
#include "schedule/effort.hpp"
#include "schedule/schedules.hpp"
#include "schedule/set_execution.hpp"

namespace coset::schedule {
namespace {

using testing::schedule_of;
using generator = std::mt19937_64;

constexpr std::uint64_t seed = 20251125;

std::vector<rank_t> random_order(rank_t ranks, generator& random) {
  std::vector<rank_t> order(ranks);
  std::iota(order.begin(), order.end(), rank_t{0});
  std::ranges::shuffle(order, random);
  return order;
}

std::string refusal(std::string const& text, rank_t ranks, verb what = verb::allreduce) {
  try {
    schedule_of(text, ranks, what);
  } catch (schedule_error const& e) {
    return e.what();
  }
  return "accepted";
}

std::vector<rank_t> order_of(std::string const& text, rank_t ranks) {
  return permutation_of({"ring", {{permute, text}}}, ranks);
}

/// Something of every algorithm that needs no file.
std::vector<algorithm> some_algorithms(rank_t ranks) {
  std::vector<algorithm> all;
  rank_t const upper = (ranks + 1) / 2;
  for (named_algorithm const& row : registry()) {
    if (row.name == "plan") continue;
    algorithm how{row.name, {}};
    for (parameter const& p : row.parameters) {
      if (p.name == "nodes") how.parameters["nodes"] = std::to_string(upper) + "+" + std::to_string(ranks - upper);
      if (p.name == "shifts") how.parameters["shifts"] = "circulant";
      if ((p.name == "dims" || p.name == "factors") && !p.passed_on)
        how.parameters[p.name] = ranks % 2 == 0 ? std::to_string(ranks / 2) + "x2" : std::to_string(ranks);
    }
    all.push_back(std::move(how));
  }
  for (char const* const more :
       {"generalized(saved_steps=1)", "direct(saved_steps=1)", "hybrid(saved_steps=1)", "dilated(ordered=1)"})
    all.push_back(algorithm::parse(more));
  return all;
}

void check(algorithm const& how, std::vector<rank_t> const& order, verb what, rank_t root) {
  auto const ranks = static_cast<rank_t>(order.size());
  auto const played = static_cast<rank_t>(std::ranges::find(order, root) - order.begin());
  schedule plain;
  try {
    plain = make(how, ranks, what, played);
  } catch (schedule_error const&) {
    return;  // not for so many ranks
  }
  algorithm other = how;
  other.parameters[permute] = permutation_text(order);
  auto const moved = make(other, ranks, what, root);
  auto const before = validate(plain), after = validate(moved);
  EXPECT_TRUE(moved.idempotent_only || executes_rightly(moved)) << other.text() << " " << name_of(what);
  EXPECT_EQ(std::tuple(before.steps, before.sent_max, before.received_max, before.combined_max, before.fan_in),
            std::tuple(after.steps, after.sent_max, after.received_max, after.combined_max, after.fan_in))
      << other.text();
  // Inputs that are folded directly are put in the order of the ranks, whereby bits can become alike, but not differ.
  EXPECT_TRUE(after.rank_uniform || !before.rank_uniform) << other.text() << " " << name_of(what);
}

/// Red if a verb's root, pieces or results stay where they were, or if sources that assignments share are renamed twice.
TEST(Permutation, GivesEveryVerbWhatItWantsInRandomOrdersOfEveryAlgorithm) {
  generator random(seed);
  rank_t const largest = by_effort<rank_t>(9, 14, 24);
  for (rank_t ranks = 2; ranks <= largest; ++ranks) {
    for (algorithm const& how : some_algorithms(ranks)) {
      for (verb const what : find_algorithm(how.name).verbs) {
        if (!coset::detail::is_scan(what))
          check(how, random_order(ranks, random), what, static_cast<rank_t>(random() % ranks));
      }
    }
  }
}

TEST(Permutation, MovesPiecesThatAreCutFinerThanRanks) {
  auto const made = schedule_of("two_level(nodes=3+2,leaders=0,permute=4+0+3+1+2)", 5, verb::reduce_scatter);
  EXPECT_GT(made.blocks.size(), 5u);
  EXPECT_NO_THROW(validate(made));
}

TEST(Permutation, KeepsTheOrderOfRanksOnlyWhereItIsTheirs) {
  EXPECT_TRUE(validate(schedule_of("direct(permute=rotate:9)", 9)).ordered);
  EXPECT_TRUE(validate(schedule_of("direct(permute=random:3)", 9)).ordered);
  EXPECT_FALSE(validate(schedule_of("product(dims=3x3,permute=random:3)", 9)).ordered);
  EXPECT_TRUE(validate(schedule_of("product(dims=4x2,permute=0+1+2+3+4+5+6+7)", 8)).ordered);
  EXPECT_FALSE(validate(schedule_of("product(dims=4x2,permute=stride:2)", 8)).ordered);
}

TEST(Permutation, RanksOfANodeFoldFirstWhereverTheyAre) {
  auto const made = schedule_of("product(dims=4x2,permute=stride:2)", 8);
  EXPECT_EQ(testing::read_from(made, 0, 3), (std::set<rank_t>{1, 3, 5, 7}));
  EXPECT_EQ(testing::read_from(made, 1, 3), (std::set<rank_t>{2, 3}));
}

TEST(Permutation, HasForms) {
  EXPECT_EQ(order_of("3+1+0+2", 4), (std::vector<rank_t>{3, 1, 0, 2}));
  EXPECT_EQ(order_of("reverse", 4), (std::vector<rank_t>{3, 2, 1, 0}));
  EXPECT_EQ(order_of("rotate:3", 4), (std::vector<rank_t>{3, 0, 1, 2}));
  EXPECT_EQ(order_of("rotate:7", 4), order_of("rotate:3", 4));
  EXPECT_EQ(order_of("stride:3", 7), (std::vector<rank_t>{0, 3, 6, 1, 4, 2, 5}));
  EXPECT_EQ(order_of("nodes:1.0.1.0.0", 5), (std::vector<rank_t>{0, 2, 1, 3, 4}));
  EXPECT_EQ(order_of("random:1", 10),
            (std::vector<rank_t>{4, 2, 8, 1, 9, 3, 0, 6, 7, 5}));  // the same on every platform
  EXPECT_NE(order_of("random:1", 10), order_of("random:2", 10));
}

TEST(Permutation, IsTextAgain) {
  generator random(seed);
  for (rank_t ranks = 1; ranks <= 40; ++ranks) {
    auto const order = random_order(ranks, random);
    EXPECT_EQ(order_of(permutation_text(order), ranks), order);
    for (rank_t stride = 1; stride <= ranks; ++stride) {
      auto const dealt = order_of("stride:" + std::to_string(stride), ranks);
      EXPECT_EQ(order_of(permutation_text(dealt), ranks), dealt);
    }
  }
  EXPECT_EQ(permutation_text(order_of("nodes:0.1.2.0.1.2.0", 7)), "stride:3");
}

TEST(Permutation, IsRefusedWithTheRankThatIsWrong) {
  EXPECT_EQ(refusal("naive(permute=3+1+0+1)", 4),
            "naive(permute=3+1+0+1,saved_steps=0): permute has rank 1 twice or beyond the last, and rank 2 never");
  EXPECT_EQ(refusal("naive(permute=0+4+1+2)", 4),
            "naive(permute=0+4+1+2,saved_steps=0): permute has rank 4 twice or beyond the last, and rank 3 never");
  EXPECT_EQ(refusal("naive(permute=0+1)", 4),
            "naive(permute=0+1,saved_steps=0): permute lists more ranks than there are, or fewer");
  EXPECT_EQ(refusal("naive(permute=nodes:0.1)", 4),
            "naive(permute=nodes:0.1,saved_steps=0): permute lists more ranks than there are, or fewer");
  EXPECT_NE(refusal("naive(permute=stride:0)", 4).find("stride:K from 1"), std::string::npos);
  EXPECT_NE(refusal("naive(permute=stride:1.2)", 4).find("stride:K from 1"), std::string::npos);
  for (char const* const wrong : {"shuffle", "stride", "reverse:1", "scatter:2"})
    EXPECT_NE(refusal("naive(permute=" + std::string(wrong) + ")", 4).find("or reverse, rotate:K"), std::string::npos)
        << wrong;
  EXPECT_NE(refusal("naive(permute=1+x)", 4).find("takes whole numbers"), std::string::npos);
  EXPECT_THROW(require_sense(algorithm::parse("ring(permute=0+2)")), schedule_error);
  EXPECT_THROW(require_sense(algorithm::parse("ring(permute=2x)")), schedule_error);
  EXPECT_NO_THROW(require_sense(algorithm::parse("ring(permute=random:7)")));
}

TEST(Permutation, IsRefusedForScansUnlessNothingMoves) {
  EXPECT_NE(refusal("direct(permute=reverse)", 4, verb::scan).find("leave permute out"), std::string::npos);
  EXPECT_EQ(refusal("direct(permute=rotate:0)", 4, verb::scan), "accepted");
}

/// Hosts' parts of it, put together, do what the whole does.
TEST(Permutation, IsMadeForEachHostToo) {
  std::vector<std::vector<rank_t>> const all{{0, 1, 2, 3, 4, 5, 6}, {0, 3, 5, 6}};
  for (auto const& hosts : all) {
    for (char const* const text : {"generalized(permute=5+1+0+2+4+3)", "two_level(nodes=3+2+1,permute=5+1+0+2+4+3)",
                                   "ring(permute=random:5)", "product(dims=3x2,nested=1,permute=stride:2)"}) {
      for (verb const what : {verb::allreduce, verb::reduce_scatter, verb::allgather, verb::reduce, verb::broadcast}) {
        std::vector<part> parts;
        for (std::size_t h = 0; h + 1 < hosts.size(); ++h)
          parts.push_back(make_part(algorithm::parse(text), hosts, h, what, 2));
        auto whole = joined(parts);
        EXPECT_NO_THROW(validate(whole)) << text << " " << name_of(what);
        EXPECT_TRUE(executes_rightly(whole)) << text << " " << name_of(what);
      }
    }
  }
}

}  // namespace
}  // namespace coset::schedule
