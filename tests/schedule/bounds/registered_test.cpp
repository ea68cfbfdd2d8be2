// SPDX-License-Identifier: Apache-2.0
// Lower bounds that hold for every schedule, held against every schedule that there is a name for.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "planning/schedule/core/events.hpp"
#include "planning/schedule/model/demand.hpp"
#include "schedule/effort.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule {
namespace {

using testing::made_if_defined;
using testing::schedule_of;

/// What ranks send and receive in all steps, in whole units.
struct volumes {
  std::vector<std::int64_t> sent, received;
  std::int64_t vector;  ///< units of a whole one

  explicit volumes(schedule const& made) : sent(made.ranks), received(made.ranks) {
    units const unit(made);
    vector = unit.denominator;
    for (std::size_t step = 0; step < made.steps.size(); ++step)
      for (auto const& m : messages_in(made, step, unit).messages) {
        sent[m.from] += m.volume;
        received[m.to] += m.volume;
      }
  }

  fraction all() const { return {std::accumulate(received.begin(), received.end(), std::int64_t{0}), vector}; }
  fraction most_sent() const { return {std::ranges::max(sent), vector}; }
  fraction most_received() const { return {std::ranges::max(received), vector}; }
  fraction least_sent() const { return {std::ranges::min(sent), vector}; }
  fraction least_received() const { return {std::ranges::min(received), vector}; }
};

std::vector<rank_t> numbers_of_ranks() {
  std::vector<rank_t> numbers{2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 21, 22, 33, 64};
  if (!by_effort(false, false, true)) return numbers;
  numbers.resize(63);
  std::iota(numbers.begin(), numbers.end(), 2);
  return numbers;
}

/// As two nodes that differ, so that what goes node by node is there, too.
demand any_of(verb what, rank_t ranks) {
  demand wanted{.verb = what, .ranks = ranks, .same_bits = false, .idempotent = true};
  if (ranks > 3) wanted.nodes = {ranks / 2 - 1, ranks - ranks / 2 + 1};
  return wanted;
}

/// Calls check(schedule, name) for all that are tried of a verb, whatever bits and order they keep. Says how many there are.
template <typename Check>
std::size_t for_each_schedule(verb what, Check check) {
  std::size_t checked = 0;
  for (rank_t const ranks : numbers_of_ranks()) {
    cost_model levels = cost_model::flat(1, 1, 0);
    if (ranks % 4 == 0) levels.links.insert(levels.links.begin(), link{4, 1, 1});
    demand const wanted = any_of(what, ranks);
    for (algorithm const& how : candidates_for(wanted, levels)) {
      auto const made = made_if_defined(how, ranks, what);
      if (!made) continue;
      check(*made, how.text() + " on " + std::to_string(ranks));
      ++checked;
    }
  }
  return checked;
}

fraction others_of(rank_t ranks) { return {std::int64_t{ranks} - 1, ranks}; }

// [PY], Lemmas 1 and 2. What all ranks receive is 2(N − 1) vectors at least, so that one rank has its N-th part of that.
TEST(LowerBounds, NoAllreduceSendsLessThanTwiceAllOthersVectors) {
  std::size_t const checked = for_each_schedule(verb::allreduce, [](schedule const& made, std::string const& name) {
    volumes const found(made);
    EXPECT_GE(found.all(), fraction(2 * (std::int64_t{made.ranks} - 1))) << name;
    EXPECT_GE(found.most_sent(), others_of(made.ranks) * 2) << name;
    EXPECT_GE(found.most_received(), others_of(made.ranks) * 2) << name;
  });
  EXPECT_GT(checked, 600u);
}

TEST(LowerBounds, AreReachedByTheRingAndByTheFold) {
  for (char const* const name : {"ring", "generalized"})
    for (rank_t const ranks : numbers_of_ranks()) {
      volumes const found(schedule_of(name, ranks));
      EXPECT_EQ(found.all(), fraction(2 * (std::int64_t{ranks} - 1))) << name << " on " << ranks;
      EXPECT_EQ(found.most_sent(), others_of(ranks) * 2) << name << " on " << ranks;
      EXPECT_EQ(found.most_received(), others_of(ranks) * 2) << name << " on " << ranks;
    }
}

// [T], Theorem 1. Of each piece of the others every rank has a contribution that has to leave it.
TEST(LowerBounds, NoRankOfAReduceScatterSendsLessThanAllOthersPieces) {
  std::size_t const checked =
      for_each_schedule(verb::reduce_scatter, [](schedule const& made, std::string const& name) {
        volumes const found(made);
        EXPECT_GE(found.least_sent(), others_of(made.ranks)) << name;
        EXPECT_GE(found.most_received(), others_of(made.ranks)) << name;
      });
  EXPECT_GT(checked, 300u);
}

TEST(LowerBounds, NoRankOfAnAllgatherReceivesLessThanAllOthersPieces) {
  std::size_t const checked = for_each_schedule(verb::allgather, [](schedule const& made, std::string const& name) {
    volumes const found(made);
    EXPECT_GE(found.least_received(), others_of(made.ranks)) << name;
    EXPECT_GE(found.most_sent(), others_of(made.ranks)) << name;
  });
  EXPECT_GT(checked, 300u);
}

// [PY], Lemma 3: one port, nothing paid for combining.
TEST(LowerBounds, NoAllreduceIsPricedBelowOneLatencyAndTheBusiestRanksBytes) {
  double const alpha = 3e-5, beta = 1e-8;
  for_each_schedule(verb::allreduce, [=](schedule const& made, std::string const& name) {
    counts const work(made, cost_model::flat(alpha, beta, 0));
    for (double const bytes : {8., 65536., 1e9})
      EXPECT_GE(work.seconds(bytes) * (1 + 1e-12), alpha + beta * others_of(made.ranks).value() * 2 * bytes) << name;
  });
  for (rank_t const ranks : numbers_of_ranks()) {  // from 100 alpha / beta a rank the ring is within 1 %
    double const bytes = ranks * 100 * alpha / beta, bound = alpha + beta * others_of(ranks).value() * 2 * bytes;
    EXPECT_LE(counts(schedule_of("ring", ranks), cost_model::flat(alpha, beta, 0)).seconds(bytes), 1.01 * bound)
        << ranks;
  }
}

}  // namespace
}  // namespace coset::schedule
