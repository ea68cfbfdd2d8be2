// SPDX-License-Identifier: Apache-2.0
// Random mutations of right schedules: validate() refuses exactly those that a plain execution finds wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "effort.hpp"
#include "planning/schedule/core/required.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/registry/algorithm.hpp"
#include "set_execution.hpp"

namespace coset::schedule {
namespace {

bool accepted(schedule const& s) {
  try {
    validate(s);
    return true;
  } catch (schedule_error const&) {
    return false;
  }
}

using generator = std::mt19937_64;

std::size_t below(generator& random, std::size_t end) {
  return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
}

/// Assignments may share their sources: then an edit of a source mutates all of them.
assignment& any_assignment(schedule& s, generator& random) {
  for (;;) {
    auto& step = s.steps[below(random, s.steps.size())];
    if (!step.empty()) return step[below(random, step.size())];
  }
}

void drop_assignment(schedule& s, generator& random) {
  for (;;) {
    auto& step = s.steps[below(random, s.steps.size())];
    if (step.empty()) continue;
    step.erase(step.begin() + static_cast<std::ptrdiff_t>(below(random, step.size())));
    return;
  }
}

void drop_source(schedule& s, generator& random) {
  assignment& a = any_assignment(s, random);
  if (a.count > 1)
    --a.count;
  else
    a.first = static_cast<std::uint32_t>(below(random, s.sources.size()));
}

void duplicate_source(schedule& s, generator& random) {
  assignment& a = any_assignment(s, random);
  std::vector<source> copy(s.from(a).begin(), s.from(a).end());
  copy.push_back(copy[below(random, copy.size())]);
  a.first = static_cast<std::uint32_t>(s.sources.size());
  a.count = static_cast<std::uint32_t>(copy.size());
  s.sources.insert(s.sources.end(), copy.begin(), copy.end());
}

void duplicate_assignment(schedule& s, generator& random) {
  assignment const a = any_assignment(s, random);
  s.steps[below(random, s.steps.size())].push_back(a);
}

void redirect_rank(schedule& s, generator& random) {
  assignment const& a = any_assignment(s, random);
  s.sources[a.first + below(random, a.count)].rank = static_cast<rank_t>(below(random, s.ranks));
}

void redirect_slot(schedule& s, generator& random) {
  assignment const& a = any_assignment(s, random);
  s.sources[a.first + below(random, a.count)].slot = static_cast<slot_t>(below(random, 4));
}

void redirect_target(schedule& s, generator& random) {
  assignment& a = any_assignment(s, random);
  if (below(random, 2) == 0)
    a.rank = static_cast<rank_t>(below(random, s.ranks));
  else
    a.block = static_cast<block_t>(below(random, s.blocks.size()));
}

void redirect_result(schedule& s, generator& random) {
  s.result[below(random, s.ranks)][below(random, s.blocks.size())] = static_cast<slot_t>(below(random, 4));
}

void swap_steps(schedule& s, generator& random) {
  std::swap(s.steps[below(random, s.steps.size())], s.steps[below(random, s.steps.size())]);
}

TEST(Mutations, ValidateAgreesWithAnExecutionOnSets) {
  void (*const mutations[])(schedule&, generator&) = {drop_assignment, drop_source,   duplicate_source,
                                                      redirect_rank,   redirect_slot, duplicate_assignment,
                                                      redirect_target, swap_steps,    redirect_result};
  std::uint64_t const seed = 20240607;
  generator random(seed);
  int const rounds = by_effort(2, 30, 1000);
  int right = 0, wrong = 0;
  for (int round = 0; round < rounds; ++round)
    for (named_algorithm const& row : registry()) {
      bool const needs_parameters =
          std::ranges::any_of(row.parameters, [](parameter const& p) { return p.default_value.empty(); });
      if (needs_parameters) continue;
      for (verb const what : row.verbs) {
        rank_t const ranks = 2 + static_cast<rank_t>(below(random, 9));
        schedule original;
        try {
          original = make({row.name, {}}, ranks, what, ranks / 2);
        } catch (schedule_error const&) {
          continue;  // undefined for this number of ranks
        }
        ASSERT_TRUE(executes_rightly(original)) << row.name << " P=" << ranks << " " << name_of(what);
        for (auto const mutate : mutations) {
          schedule mutant = original;
          if (mutant.steps.empty()) continue;
          mutate(mutant, random);
          bool const is_right = executes_rightly(mutant);
          (is_right ? right : wrong) += 1;
          ASSERT_EQ(accepted(mutant), is_right)
              << row.name << " P=" << ranks << " " << name_of(what) << " round " << round << " seed " << seed;
        }
      }
    }
  EXPECT_GE(wrong, 100);
  EXPECT_GE(right, 10);  // a redirection may hit what was there before
}

}  // namespace
}  // namespace coset::schedule
