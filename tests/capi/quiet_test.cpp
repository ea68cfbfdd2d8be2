// SPDX-License-Identifier: Apache-2.0
// Guarantee 8 holds for C programs too: once they have run, collectives allocate nothing, split phase and operations of
// the caller's own included.
#include <gtest/gtest.h>

#include <array>
#include <coset/coset.hpp>
#include <cstddef>

#include "bindings/c/handles.hpp"
#include "support/counted_new.hpp"

namespace {

void add(void* left, void const* right, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) static_cast<double*>(left)[i] += static_cast<double const*>(right)[i];
}

/// Everything that a rank does again and again.
void reduce_in_all_ways(coset_member* me, coset_plan* plan, coset_operation op) {
  std::array<double, 300> in{}, out{};
  std::array<std::size_t, 2> const counts{100, 200};
  EXPECT_EQ(coset_allreduce(me, in.data(), out.data(), 300, COSET_FLOAT64, op), COSET_SUCCESS);
  EXPECT_EQ(coset_reduce_scatter_counts(me, in.data(), out.data(), counts.data(), COSET_FLOAT64, op), COSET_SUCCESS);
  std::array const symmetric{counts[coset_member_rank(me)], counts[1 - coset_member_rank(me)]};
  EXPECT_EQ(coset_all_to_all_counts(me, in.data(), out.data(), symmetric.data(), symmetric.data(), COSET_FLOAT64),
            COSET_SUCCESS);
  EXPECT_EQ(coset_plan_execute(plan, me, in.data(), out.data()), COSET_SUCCESS);
  coset_request request;
  EXPECT_EQ(coset_start_scan(me, in.data(), out.data(), 300, COSET_FLOAT64, op, &request), COSET_SUCCESS);
  EXPECT_EQ(coset_request_wait(&request), COSET_SUCCESS);
  EXPECT_EQ(coset_plan_start(plan, me, in.data(), out.data(), &request), COSET_SUCCESS);
  EXPECT_EQ(coset_request_wait(&request), COSET_SUCCESS);
}

TEST(Calls, AllocateNothingOnceTheyHaveRun) {
  coset_team_options options = COSET_TEAM_OPTIONS;
  options.ranks = 2;
  options.placement = COSET_UNBOUND;
  coset_team* team = nullptr;
  ASSERT_EQ(coset_team_create(&options, &team), COSET_SUCCESS);
  for (bool const own : {false, true}) {
    coset_operation op = COSET_PLUS;
    if (own) coset_operation_create("add", add, nullptr, sizeof(double), 0, &op);
    coset_plan* plan = nullptr;
    ASSERT_EQ(coset_plan_create(team, COSET_VERB_ALLREDUCE, 300, COSET_FLOAT64, op, nullptr, &plan), COSET_SUCCESS);
    std::size_t before = 0, after = 1;
    team->of->run([&](coset::member& me) {
      coset_member in_c{&me, coset_member::origin::run};
      for (int warm = 0; warm < 16; ++warm) {  // every channel, both parities
        reduce_in_all_ways(&in_c, plan, op);
        coset::barrier(me);
      }
      if (me.rank() == 0) before = coset::test::allocations();
      coset::barrier(me);
      for (int round = 0; round < 16; ++round) reduce_in_all_ways(&in_c, plan, op);
      coset::barrier(me);
      if (me.rank() == 0) after = coset::test::allocations();
      coset::barrier(me);
    });
    EXPECT_EQ(after, before);
    coset_plan_free(plan);
    coset_operation_free(op);
  }
  coset_team_free(team);
}

}  // namespace
