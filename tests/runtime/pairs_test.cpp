// SPDX-License-Identifier: Apache-2.0
// Every pair of different calls, one by one rank and the other by the rest: an error on all ranks, whatever the calls.
#include <array>
#include <functional>
#include <optional>

#include "support/ways.hpp"

namespace coset::team_test {
namespace {

/// Of one line, of several, and of several segments where those are short.
std::vector<std::size_t> counts() { return {1, 100, 60'000}; }

std::vector<way> all_ways(rank_t ranks) {
  std::vector<way> all;
  for (verb const what : all_verbs()) {
    for (manner const how : {manner::blocking, manner::started, manner::planned}) {
      if (what == verb::allreduce_view && how != manner::blocking) continue;
      if (what == verb::barrier && how == manner::planned) continue;
      for (std::size_t const count : counts()) {
        if (what == verb::barrier && count != 1) continue;
        for (rank_t root = 0; root < (is_rooted(what) ? ranks : 1); ++root) {
          all.push_back({what, how, count, root});
          if (how != manner::planned) all.push_back({what, how, count, root, true});
        }
      }
    }
  }
  all.push_back({verb::allreduce, manner::blocking, 100, 0, false, true});
  all.push_back({verb::allreduce, manner::started, 100, 0, false, true});
  return all;
}

class Pairs : public ::testing::TestWithParam<rank_t> {
 protected:
  team ranks{options_for(GetParam())};
  plan_table plans{ranks};
  std::vector<int> shared = std::vector<int>(counts().back());

  /// The odd rank calls `one`, the others `other`; then all go on to a barrier, where those learn of it that have
  /// found nothing to wait for.
  std::vector<outcome> disagree(way const& one, way const& other, rank_t odd) {
    for (way const& w : {one, other}) {
      if (w.how == manner::planned) plans.make(w);
    }
    bool const splits = one.in_split || other.in_split;
    return outcomes(ranks, [&](member& me) {
      std::optional<member> part;
      if (splits) part.emplace(me.split(0));
      way const& mine = me.rank() == odd ? one : other;
      journey my_call(mine, 5, me.rank(), me.size());
      my_call.set_off(mine.in_split ? *part : me, &plans, std::span(shared).first(mine.count));
      my_call.under_way.wait();
      barrier(me);
      if (splits) barrier(*part);
      if (my_call.fault() != "") throw std::logic_error(my_call.fault());
      barrier(me);
    });
  }
};

TEST_P(Pairs, OfDifferentCallsEndInAnErrorOnAllRanks) {
  auto const ways = all_ways(ranks.size());
  std::size_t const all = ways.size() * ways.size();
  // A step that shares no divisor with the number of pairs draws pairs of all kinds.
  std::size_t const step = test::by_effort<std::size_t>(499, 151, 1);
  for (std::size_t k = 0; k < all; k += step) {
    way const &one = ways[k / ways.size()], &other = ways[k % ways.size()];
    if (text(one) == text(other)) continue;
    SCOPED_TRACE(text(one) + "  beside  " + text(other));
    expect_everybody_threw<mismatch_error>(disagree(one, other, rank_t(k % ranks.size())), {"rank"});
    if (HasFailure()) return;
  }
  expect_works(ranks);
}

TEST_P(Pairs, OfEqualCallsAreRight) {
  for (way const& w : all_ways(ranks.size())) {
    SCOPED_TRACE(text(w));
    for (outcome const& one : disagree(w, w, 0)) ASSERT_EQ(one.type, "") << one.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Pairs, ::testing::Values(2, 3), size_name);

/// What each rank does is a list of steps; ranks that agree on none of the orders wait for one another in a circle.
using script = std::vector<std::function<void(member&, member&, member&)>>;

std::vector<outcome> play(team& ranks, std::vector<script> const& scripts) {
  return outcomes(ranks, [&](member& me) {
    member one = me.split(0), other = me.split(0);
    for (auto const& step : scripts[me.rank()]) step(me, one, other);
  });
}

TEST(Circles, OfTeamsThatAreCalledInOtherOrdersEndInAnError) {
  team ranks(options_for(3));
  auto const whole = [](member& me, member&, member&) { barrier(me); };
  auto const one = [](member&, member& part, member&) { barrier(part); };
  auto const other = [](member&, member&, member& part) { barrier(part); };
  for (int repetition = 0; repetition < 3; ++repetition) {
    expect_everybody_threw<mismatch_error>(play(ranks, {{whole, one}, {one, whole}, {whole, one}}),
                                           {"wait for one another", "split off"});
    expect_everybody_threw<mismatch_error>(play(ranks, {{whole}, {one}, {other}}), {"wait for one another"});
    expect_everybody_threw<mismatch_error>(
        play(ranks, {{whole}, {one}, {[](member&, member&, member& part) { start_barrier(part).wait(); }}}),
        {"wait for one another", "starts barrier"});
    // Who has something else under way waits as the others do.
    auto const two = [](member&, member& one_part, member& other_part) {
      request under_way = start_barrier(one_part);
      barrier(other_part);
    };
    expect_everybody_threw<mismatch_error>(play(ranks, {{two}, {whole}, {whole}}), {"wait for one another"});
  }
  expect_works(ranks);
}

TEST(Circles, AreNoneWhereAnOperationUnderWayGetsOn) {
  team ranks(options_for(3));
  auto const all = outcomes(ranks, [&](member& me) {
    member part = me.split(0);
    for (int k = 0; k < 200; ++k) {
      // Started in one order everywhere, waited for in others.
      request a = start_barrier(me), b = start_barrier(part);
      if (me.rank() % 2 == 0) {
        a.wait();
        barrier(part);
        b.wait();
      } else {
        barrier(part);
        b.wait();
        a.wait();
      }
    }
  });
  for (outcome const& one : all) EXPECT_EQ(one.type, "") << one.message;
}

TEST(Circles, AreNoneWhereARankIsLate) {
  team ranks(options_for(3, waiting::block));
  std::atomic<int> rounds = 0;
  for (outcome const& one : outcomes(ranks, [&](member& me) {
         for (int k = 0; k < 20; ++k) {
           // The others have long waited, and asked whether all wait.
           if (me.rank() == 1) {
             auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
             while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
           }
           barrier(me);
           if (me.rank() == 0) ++rounds;
         }
       }))
    EXPECT_EQ(one.type, "") << one.message;
  EXPECT_EQ(rounds, 20);
}

TEST(History, IsPartOfEveryOperation) {
  // Neither of the two waits for the other in its first call, and their second is the same.
  team ranks(options_for(2));
  std::vector<int> in(100), out(100);
  expect_everybody_threw<mismatch_error>(outcomes(ranks,
                                                  [&](member& me) {
                                                    if (me.rank() == 0)
                                                      broadcast(me, in, 0);
                                                    else
                                                      reduce(me, out, out, 1 - me.rank());
                                                    barrier(me);
                                                  }),
                                         {"before", "broadcast of 100 int (copy), root 0", "reduce of 100 int"});
  expect_works(ranks);
}

TEST(History, TellsCallsFromStarts) {
  team ranks(options_for(2));
  expect_everybody_threw<mismatch_error>(outcomes(ranks,
                                                  [&](member& me) {
                                                    if (me.rank() == 0) return barrier(me);
                                                    request never = start_barrier(me);
                                                    while (!never.test()) continue;
                                                  }),
                                         {"rank 0 calls barrier", "rank 1 starts barrier"});
}

TEST(History, NamesCountsThatDiffer) {
  team ranks(options_for(2));
  std::vector<int> in(8), out(8);
  std::array<std::size_t, 2> const one{3, 5}, other{5, 3};
  expect_everybody_threw<mismatch_error>(outcomes(ranks,
                                                  [&](member& me) {
                                                    auto const& counts = me.rank() == 0 ? one : other;
                                                    reduce_scatter(
                                                        me, in, std::span<int>(out.data(), counts[me.rank()]), counts);
                                                  }),
                                         {"[3, 5]", "[5, 3]"});
}

TEST(History, SaysInPlaceOnlyWhereThatMakesADifference) {
  team ranks(options_for(2));
  std::vector<int> items(8);
  for (outcome const& one : outcomes(ranks, [&](member& me) { broadcast(me, items, me.rank()); }))
    EXPECT_EQ(one.message.find("in place"), std::string::npos) << one.message;
}

TEST(Operations, MayCallNoCollective) {
  team ranks(options_for(2));
  auto const all = outcomes(ranks, [&](member& me) {
    auto const sum = [&](double a, double b) {
      barrier(me);
      return a + b;
    };
    static_cast<void>(allreduce(me, 1.0, sum));
  });
  bool some = false;
  for (outcome const& one : all) {
    EXPECT_NE(one.type, "");
    some |= one.type == type_name<argument_error>() && one.message.find("operation") != std::string::npos;
  }
  EXPECT_TRUE(some);
  expect_works(ranks);
}

}  // namespace
}  // namespace coset::team_test
