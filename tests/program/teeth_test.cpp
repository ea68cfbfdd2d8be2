// SPDX-License-Identifier: Apache-2.0
// Nothing in a program can be left out: the simulation notices, and the programs wait for no more than they must.
#include <gtest/gtest.h>

#include "calls.hpp"
#include "effort.hpp"
#include "support/plan_texts.hpp"

namespace coset::program::testing {
namespace {

/// Calls `what` with a copy of the program of one rank that `change` may edit.
template <class Change>
call changed(call const& what, rank_t rank, Change change) {
  auto code = std::make_shared<compiled>(*what.code);
  change(code->of[rank]);
  call other = what;
  other.code = std::move(code);
  return other;
}

void drop_wait(program& p, std::uint32_t k) {
  p.waits.erase(p.waits.begin() + k);
  for (instruction& i : p.code) i.waits_end -= i.waits_end > k;
}

/// Whether a program goes wrong after itself, or after as little as can leave something in the staging of `peer`.
bool goes_wrong(call const& c, rank_t peer, std::uint64_t seed) {
  rank_t const ranks = c.code->ranks;
  if (failure_of({c, c, c}, seed)) return true;
  if (failure_of({lone_owner(ranks, peer), idle(ranks), c}, seed)) return true;
  for (rank_t reader = 0; reader < ranks; ++reader) {
    if (reader != peer && failure_of({lone_reader(ranks, reader, peer), idle(ranks), c}, seed)) return true;
  }
  return false;
}

/// Every so many of all plans, storages and ways to call.
template <class Visit>
void for_some_calls(rank_t ranks, std::uint64_t stride, Visit visit) {
  std::uint64_t cases = test::seed();
  for (std::string const& algorithm : team_test::plan_texts(ranks)) {
    for (verb const what : schedule::find_algorithm(schedule::algorithm::parse(algorithm).name).verbs) {
      for (arrays const how : ways_to_call(what)) {
        for (std::string const& name : policy_names()) {
          if (++cases % stride != 0) continue;
          try {
            visit(call_of(plan_of(algorithm, ranks, what, ranks / 2), name, how));
          } catch (schedule_error const&) {  // this storage would lose a value
          }
        }
      }
    }
  }
}

TEST(EveryWait, IsNeeded) {
  std::uint64_t tried = 0;
  for (rank_t ranks = 2; ranks <= test::by_effort<rank_t>(4, 6, 8); ++ranks) {
    for_some_calls(ranks, test::by_effort(211, 29, 7), [&](call const& c) {
      for (rank_t r = 0; r < ranks; ++r) {
        for (std::uint32_t k = 0; k < c.code->of[r].waits.size(); ++k, ++tried) {
          wait const dropped = c.code->of[r].waits[k];
          EXPECT_TRUE(goes_wrong(changed(c, r, [k](program& p) { drop_wait(p, k); }), dropped.rank, tried))
              << text_of(*c.plan, c.code->storage, c.how) << ": rank " << r << " need not wait for signal "
              << dropped.signal << " of rank " << dropped.rank;
        }
      }
    });
  }
  EXPECT_GT(tried, 500u);
}

TEST(EverySignal, IsNeeded) {
  for (rank_t ranks = 2; ranks <= 4; ++ranks) {
    for_some_calls(ranks, test::by_effort(211, 53, 7), [&](call const& c) {
      for (rank_t r = 0; r < ranks; ++r) {
        for (std::size_t k = 0; k < c.code->of[r].code.size(); ++k) {
          if (c.code->of[r].code[k].signal == 0) continue;
          EXPECT_TRUE(failure_of({changed(c, r, [k](program& p) { p.code[k].signal = 0; })}, 1))
              << text_of(*c.plan, c.code->storage, c.how) << ": rank " << r << ", instruction " << k;
        }
      }
    });
  }
}

TEST(EveryRank, IsNoticedIfItFoldsInAnotherOrder) {
  for (rank_t ranks = 2; ranks <= 5; ++ranks) {
    call const c = call_of(plan_of("direct", ranks), "zero_copy");
    for (rank_t r = 0; r < ranks; ++r) {
      call const swapped = changed(c, r, [](program& p) {
        for (instruction const& i : p.code) {
          if (i.sources > 1) std::swap(p.operands[i.operands], p.operands[i.operands + 1]);
        }
      });
      EXPECT_TRUE(failure_of({swapped}, 1)) << ranks << " " << r;
    }
  }
}

}  // namespace
}  // namespace coset::program::testing
