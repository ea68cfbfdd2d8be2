// SPDX-License-Identifier: Apache-2.0
// All pipelines: right for every verb, root and number of blocks, few ranks and many.
#include <gtest/gtest.h>

#include "planning/schedule/core/required.hpp"
#include "schedule/effort.hpp"
#include "schedule/pipelined/one_port.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule::testing {
namespace {

void expect_right(algorithm const& how, rank_t ranks, verb what, rank_t root) {
  schedule const made = make(how, ranks, what, root);
  ASSERT_NO_THROW(validate(made)) << how.text() << ' ' << ranks << ' ' << name_of(what) << " root " << root;
  bool const is_of_pieces = what == verb::allgather || what == verb::reduce_scatter;
  if (ranks < 2 || is_of_pieces) return;
  most_blocks const most = most_of_one_rank(made);
  ASSERT_TRUE(most.read == 1 && most.given == 1) << how.text() << ' ' << ranks << ' ' << name_of(what);
}

std::vector<named_algorithm> pipelines() {
  std::vector<named_algorithm> all;
  std::ranges::copy_if(registry(), std::back_inserter(all), has_blocks);
  return all;
}

/// With the parameters' defaults, and others.
std::vector<algorithm> variants(named_algorithm const& row) {
  std::vector<algorithm> all{{row.name, {}}};
  for (char const* const blocks : {"1", "2", "3", "8", "13"}) {
    all.push_back({row.name, {{"blocks", blocks}}});
    for (char const* const degree : {"1", "2", "3"})
      if (row.parameters.size() > 1) all.push_back({row.name, {{"blocks", blocks}, {"degree", degree}}});
  }
  return all;
}

TEST(Pipelines, ServeEveryVerbThatTheyNameWithOneBlockPerRankAndStep) {
  for (named_algorithm const& row : pipelines())
    for (algorithm const& how : variants(row))
      for (verb const what : row.verbs)
        for (rank_t ranks = 1; ranks <= by_effort<rank_t>(16, 64, 64); ++ranks) {
          bool const is_rooted = what == verb::broadcast || what == verb::reduce;
          for (rank_t const root : std::set<rank_t>{0, 1, ranks / 2, ranks - 1}) {
            if (root >= ranks || (root > 0 && !is_rooted)) continue;
            expect_right(how, ranks, what, root);
            if (HasFatalFailure()) return;
          }
        }
}

TEST(Pipelines, AreRightOnManyRanks) {
  for (named_algorithm const& row : pipelines())
    for (rank_t const ranks :
         by_effort<std::vector<rank_t>>({100, 255}, {100, 257, 1000, 1024}, {511, 1023, 1024, 2047}))
      for (verb const what : row.verbs) {
        bool const is_of_pieces = what == verb::allgather || what == verb::reduce_scatter;
        if (is_of_pieces && ranks > 500) continue;
        expect_right({row.name, {}}, ranks, what, what == verb::allreduce || is_of_pieces ? 0 : ranks / 3);
        if (HasFatalFailure()) return;
      }
}

TEST(Pipelines, SayWhatWouldDo) {
  auto const refusal = [](std::string_view text, rank_t ranks) -> std::string {
    try {
      schedule_of(text, ranks);
    } catch (schedule_error const& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("dual_root(degree=0)", 8), "dual_root(blocks=0,degree=0): degree must be at least 1");
  EXPECT_EQ(refusal("n_block(blocks=65537)", 8), "blocks=65537 are too many: take 65536 at most");
  EXPECT_NE(refusal("n_block(blocks=65536)", 2000).find("are too many to write out"), std::string::npos);
  EXPECT_EQ(refusal("two_trees(blocks=best)", 8),
            "two_trees(blocks=best): blocks takes whole numbers, not 'best'; `coset cost` finds the best one");
}

}  // namespace
}  // namespace coset::schedule::testing
