// SPDX-License-Identifier: Apache-2.0
// What the library chooses for teams of a hundred thousand ranks and more takes little memory on each host, by any verb
// that it does not refuse them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coset/operations.hpp"
#include "effort.hpp"
#include "planning/plan/plan_store.hpp"
#include "support/counted_new.hpp"

namespace coset::planning {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

team_facts facts_of(rank_t hosts, rank_t each, std::size_t own) {
  team_facts facts;
  for (rank_t h = 0; h < hosts; ++h) {
    facts.spread.domains.push_back(h * each);
    facts.spread.processes.push_back({h * each, 8});
  }
  facts.ranks = hosts * each;
  facts.spread.domains.push_back(facts.ranks);
  facts.spread.own = own;
  facts.node_leaders.assign(each, 0);
  return facts;
}

/// At most while it is made, and afterwards.
struct memory {
  std::size_t most = 0, kept = 0;
};

/// Of the worst of three hosts. `bytes`: of the vector, or as many as make an element of each rank.
memory taken_by(verb what, rank_t hosts, std::size_t bytes, detail::reduction_table const& sum) {
  constexpr rank_t each = 128;
  memory worst;
  for (std::size_t const own : {std::size_t{0}, std::size_t{hosts} / 3, std::size_t{hosts} - 1}) {
    plan_store plans(facts_of(hosts, each, own));
    detail::call const c{.what = what,
                         .count = what == verb::barrier        ? 0
                                  : detail::is_of_pieces(what) ? std::size_t{hosts} * each * 2
                                                               : bytes / sizeof(float),
                         .reduction = detail::only_moves(what) ? &detail::copy_of<float>() : &sum};
    std::size_t const before = test::live_bytes();
    test::begin_most();
    auto const plan = plans.of_call(c);
    worst.most = std::max(worst.most, test::most_live_bytes() - before);
    worst.kept = std::max(worst.kept, test::live_bytes() - before);
    EXPECT_EQ(plan->code->of.size(), each);
    EXPECT_TRUE(plan->counts.empty());
  }
  return worst;
}

constexpr verb all[]{verb::allreduce,      verb::reduce,    verb::broadcast, verb::barrier,
                     verb::reduce_scatter, verb::allgather, verb::scan,      verb::exclusive_scan};

/// A list of the ranks would be 3 MiB longer for the larger team.
TEST(LargeTeams, TakeAFewMegabytesForAnyVerb) {
  test::sample cases(1, 3);
  for (verb const what : all) {
    for (std::size_t const bytes : {std::size_t{8}, mebibyte}) {
      if (cases.skips()) continue;
      memory const of_1000 = taken_by(what, 1000, bytes, detail::table_of<float, plus>());
      memory const of_4000 = taken_by(what, 4000, bytes, detail::table_of<float, plus>());
      EXPECT_LE(of_1000.most, 32 * mebibyte) << name_of(what) << " of " << bytes;
      EXPECT_LE(of_1000.kept, 4 * mebibyte) << name_of(what) << " of " << bytes;
      EXPECT_LE(of_4000.most, 64 * mebibyte) << name_of(what) << " of " << bytes;
      EXPECT_LE(of_4000.kept, of_1000.kept + 2 * mebibyte) << name_of(what) << " of " << bytes;
    }
  }
}

/// Then hosts are told apart.
TEST(LargeTeams, ScatterInTheOrderOfRanksInTheMemoryOfThoseHosts) {
  auto in_order = detail::table_of<float, plus>();
  in_order.commutative = false;
  EXPECT_LE(taken_by(verb::reduce_scatter, 1000, 0, in_order).most, 64 * mebibyte);
}

/// A prime number of hosts exchanges at once, if in the order of ranks; that many values are too many.
TEST(LargeTeams, AreToldWhatIsTooMuch) {
  auto in_order = detail::table_of<float, plus>();
  in_order.commutative = false;
  try {
    (void)taken_by(verb::reduce_scatter, 4001, 0, in_order);
    FAIL() << "nothing was thrown";
  } catch (argument_error const& why) {
    EXPECT_NE(std::string(why.what()).find("factors below 1024"), std::string::npos) << why.what();
    EXPECT_NE(std::string(why.what()).find("no more than 16384"), std::string::npos) << why.what();
  }
}

/// Hosts make their parts of these out of the whole, which takes gigabytes and minutes.
TEST(LargeTeams, AreToldThatTheyAreTooLargeToMovePieces) {
  for (verb const what : {verb::gather, verb::scatter, verb::all_to_all}) {
    try {
      (void)taken_by(what, 1000, 0, detail::table_of<float, plus>());
      FAIL() << name_of(what) << " has a plan";
    } catch (schedule_error const& why) {
      EXPECT_NE(std::string(why.what()).find("128000 ranks with 128000 blocks"), std::string::npos) << why.what();
    }
    EXPECT_LE(test::most_live_bytes(), test::live_bytes() + 32 * mebibyte) << name_of(what);
  }
}

}  // namespace
}  // namespace coset::planning
