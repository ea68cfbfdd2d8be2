// SPDX-License-Identifier: Apache-2.0
// The executor's rules, one test each, named after the rule. Each says which change to the library turns it red.
#include <latch>
#include <random>

#include "support/verbs.hpp"
#include "variable.hpp"

namespace coset::team_test {
namespace {

struct Rule : ::testing::TestWithParam<rank_t> {
  team ranks{options_for(GetParam())};
};

/// Keeps a rank behind for about this many looks at a word.
void dawdle(std::uint64_t turns) {
  for (std::uint64_t volatile left = turns; left > 0;) left = left - 1;
}

/// Red without await_reuse(): the root of a broadcast, or rank 0 of a scan, waits for nobody, comes round to the same
/// parity and overwrites what a slow reader has not read.
TEST_P(Rule, NobodyLapsADelayedReader) {
  std::atomic<int> wrong = 0;
  int const rounds = test::by_effort(10'000, 30'000, 1'000'000);
  ranks.run([&](member& me) {
    std::mt19937 choices(11), delays(me.rank());
    rank_t const slow = me.size() - 1;
    for (int k = 0; k < rounds && wrong == 0; ++k) {
      if (me.rank() == slow && delays() % 16 == 0) dawdle(delays() % 2048);
      auto const root = static_cast<rank_t>(choices() % me.size());
      switch (choices() % 4) {
        case 0:
          wrong += broadcast(me, me.rank() == root ? k : -1, root) != k;
          break;
        case 1:
          wrong += scan(me, k) != k * static_cast<int>(me.rank() + 1);
          break;
        case 2: {
          std::array values{k, k};
          reduce(me, values, root);
          wrong += values[0] != (me.rank() == root ? k * static_cast<int>(me.size()) : k);
          break;
        }
        default: {
          std::array<int, 200> values{};  // staged outside the lines
          if (me.rank() == root) values.fill(k);
          broadcast(me, values, root);
          wrong += values.front() != k || values.back() != k;
        }
      }
    }
  });
  EXPECT_EQ(wrong, 0);
}

/// Red if a rank looks at the failure only while it waits: this one finds everybody's entry there, and goes on alone.
TEST_P(Rule, AStragglerThatEntersAfterAnAbortThrowsToo) {
  std::latch others_left(ranks.size() - 1);
  auto const all = outcomes(ranks, [&](member& me) {
    if (me.rank() + 1 == me.size()) {
      others_left.wait();
      barrier(me);
      return;
    }
    auto const mine = outcome_of([&] {
      if (me.rank() == 0) ranks.abort("too slow");
      for (;;) barrier(me);
    });
    others_left.count_down();
    EXPECT_EQ(mine.type, type_name<aborted>()) << mine.message;
  });
  if (ranks.size() == 1) return;
  EXPECT_EQ(all.back().type, type_name<aborted>()) << all.back().message;
  EXPECT_NE(all.back().message.find("too slow"), std::string::npos);
  expect_works(ranks);
}

/// How many results were not what a rank that reads its view late has to find in it.
int wrong_views(team& ranks, int turns) {
  std::atomic<int> wrong = 0;
  ranks.run([&](member& me) {
    std::mt19937 delays(me.rank());
    for (int k = 1; k <= turns; ++k) {
      std::size_t const count = k % 4 < 2 ? 500 : 128;  // a node's, and the longest that is a rank's own, two in a row
      std::vector<long> const mine(count, k);
      auto const view = allreduce_view(me, mine);
      if (delays() % 8 == 0) dawdle(delays() % 20'000);
      long const expected = static_cast<long>(k) * me.size();
      wrong += std::ranges::count(view, expected) != static_cast<std::ptrdiff_t>(count);
    }
  });
  return wrong;
}

/// Red if a view is written again before every rank that reads it has come back: some see the next result in it.
TEST_P(Rule, AViewIsNotWrittenBeforeItsReadersComeBack) {
  EXPECT_EQ(wrong_views(ranks, test::by_effort(200, 2000, 20'000)), 0);
}

/// The same where peers write into it: by default a rank's own view is written by the rank alone.
TEST_P(Rule, AViewThatPeersWriteIsNotWrittenBeforeItsReadersComeBack) {
  for (char const* const rule : {"direct/zero_copy_push", "direct/output_push", "direct/output"}) {
    test::variable const wish("COSET_ALLREDUCE_VIEW", rule);
    team wishing(options_for(GetParam()));
    EXPECT_EQ(wrong_views(wishing, test::by_effort(100, 500, 5'000)), 0) << rule;
  }
}

/// Red if the first writer of a shared result does not wait for all: who comes late has still read the last one.
TEST_P(Rule, ASharedResultIsNotWrittenBeforeEverybodyHasCome) {
  std::atomic<int> wrong = 0;
  for (std::size_t const count : {3, 2000, 200'000}) {
    std::vector<long> shared(count, 0);
    int const rounds = count < 10'000 ? test::by_effort(200, 500, 500) : test::by_effort(5, 20, 20);
    ranks.run([&](member& me) {
      std::mt19937 delays(me.rank());
      for (int k = 1; k <= rounds; ++k) {
        long const before = static_cast<long>(k - 1) * me.size();
        if (delays() % 4 == 0) dawdle(delays() % 20'000);
        wrong += shared.front() != before || shared.back() != before;
        std::vector<long> const mine(count, k);
        reduce_shared(me, mine, shared);
        long const after = static_cast<long>(k) * me.size();
        wrong += std::count(shared.begin(), shared.end(), after) != static_cast<std::ptrdiff_t>(count);
      }
    });
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(Rule, ASharedResultIsOneArray) {
  if (ranks.size() == 1) return;
  std::vector<int> shared(10), other(10);
  auto const all = outcomes(ranks, [&](member& me) {
    std::vector<int> const mine(10, 1);
    reduce_shared(me, mine, me.rank() == 0 ? other : shared);
    barrier(me);
  });
  expect_everybody_threw<argument_error>(all, {"reduce_shared"});
  expect_works(ranks);
}

/// Red if lambdas are told apart by their names for people, which two of one function share.
TEST_P(Rule, RanksWithOtherLambdasDisagree) {
  if (ranks.size() == 1) return;
  auto const all = outcomes(ranks, [&](member& me) {
    std::vector<int> values(10, 1);
    if (me.rank() == 0) {
      allreduce(me, values, [](int a, int b) { return a + b; });
    } else {
      allreduce(me, values, [](int a, int b) { return a * b; });
    }
    barrier(me);
  });
  expect_everybody_threw<mismatch_error>(all);
  expect_works(ranks);
}

/// Red if the counts stay out of the signature.
TEST_P(Rule, RanksWithOtherCountsDisagree) {
  if (ranks.size() == 1) return;
  auto const all = outcomes(ranks, [&](member& me) {
    std::vector<std::size_t> counts(me.size(), 4);
    if (me.rank() == 0) std::swap(counts.front() = 5, counts.back() = 3);
    std::vector<int> out(4 * me.size()), in(counts[me.rank()]);
    allgather(me, in, out, counts);
    barrier(me);
  });
  expect_everybody_threw<mismatch_error>(all, {"counts"});
  expect_works(ranks);
}

int add(int a, int b) { return a + b; }
struct without_default {
  explicit without_default(int v) : value(v) {}
  int value;
};

TEST_P(Rule, AnyCallableAndAnyElementServe) {
  std::atomic<rank_t> right = 0;
  ranks.run([&](member& me) {
    int const sum = allreduce(me, 2, add);
    auto const one = allreduce(me, without_default(3),
                               [](without_default a, without_default b) { return without_default(a.value + b.value); });
    right += sum == 2 * static_cast<int>(me.size()) && one.value == 3 * static_cast<int>(me.size());
  });
  EXPECT_EQ(right, ranks.size());
}

TEST_P(Rule, LengthsAndRootsThatCannotBeAreRefusedEverywhere) {
  rank_t const p = ranks.size();
  auto const refused = [&](std::vector<std::string> const& words, std::function<void(member&)> const& body) {
    expect_everybody_threw<argument_error>(outcomes(ranks,
                                                    [&](member& me) {
                                                      body(me);
                                                      barrier(me);
                                                    }),
                                           words);
    expect_works(ranks);
  };
  std::vector<int> const many(p * 2 + 1);
  refused({"root", std::to_string(p)}, [&](member& me) { (void)broadcast(me, 1, p); });
  if (p > 1) {
    refused({"equal pieces", std::to_string(many.size())}, [&](member& me) {
      std::vector<int> out(2);
      reduce_scatter(me, many, out);
    });
    refused({"counts", "add up"}, [&](member& me) {
      std::vector<int> out(2);
      reduce_scatter(me, many, out, std::vector<std::size_t>(p, 2));
    });
  }
  refused({"counts", std::to_string(p + 1)}, [&](member& me) {
    std::vector<int> in(2), out(2 * p);
    allgather(me, in, out, std::vector<std::size_t>(p + 1, 2));
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Rule, ::testing::Values(1, 2, 3, 5, 9), size_name);

}  // namespace
}  // namespace coset::team_test
