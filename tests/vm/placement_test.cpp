// SPDX-License-Identifier: Apache-2.0
// Ranks are on the nodes that their placement says, by the kernel's own account.
#include <sched.h>

#include <algorithm>
#include <set>

#include "numa/mask.hpp"
#include "vm/machine.hpp"

namespace coset::vm_test {
namespace {

struct Placement : ::testing::Test {
  unsigned os_node(unsigned node) const { return machine.nodes.at(node).os_index; }
  topology const machine = topology::machine();
};

TEST_F(Placement, PutsEveryRankOnItsProcessorAndNode) {
  for (way const& how : ways(machine)) {
    SCOPED_TRACE(how.name);
    auto const expected = places(machine, how);
    team ranks(machine, how.options);
    ASSERT_EQ(ranks.size(), machine.cores());
    ranks.run([&](member& me) {
      processor const& place = expected[me.rank()];
      auto const mask = numa::mask::of_thread(0);
      EXPECT_TRUE(mask.count() == 1 && mask.contains(place.os_index)) << "rank " << me.rank();
      unsigned here = 0, node = 0;
      ASSERT_EQ(getcpu(&here, &node), 0);
      EXPECT_EQ(here, place.os_index);
      EXPECT_EQ(node, os_node(place.node));
      EXPECT_EQ(me.node(), place.node);
    });
  }
}

TEST_F(Placement, CompactFillsNodesInTurnAndScatterTakesTurns) {
  auto const nodes_of = [&](placement how) {
    std::vector<unsigned> nodes;
    for (processor const& each : machine.place(machine.cores(), how)) nodes.push_back(each.node);
    return nodes;
  };
  auto const compact = nodes_of(placement::compact), scattered = nodes_of(placement::scatter);
  EXPECT_TRUE(std::is_sorted(compact.begin(), compact.end()));
  EXPECT_TRUE(std::is_permutation(compact.begin(), compact.end(), scattered.begin()));
  std::set<unsigned> const first(scattered.begin(), scattered.begin() + static_cast<long>(machine.nodes.size()));
  EXPECT_EQ(first.size(), machine.nodes.size());
}

TEST_F(Placement, GivesEveryNodeATeamOfItsRanks) {
  for (way const& how : ways(machine)) {
    SCOPED_TRACE(how.name);
    team ranks(machine, how.options);
    ranks.run([&](member& me) {
      auto const here = std::count_if(machine.processors.begin(), machine.processors.end(),
                                      [&](processor const& each) { return each.node == me.node(); });
      member mine = me.node_team();
      EXPECT_EQ(mine.size(), here);
      EXPECT_EQ(allreduce(mine, me.node(), minimum{}), me.node());
      EXPECT_EQ(allreduce(mine, me.node(), maximum{}), me.node());
    });
  }
}

TEST_F(Placement, TellsNoNodeOfRanksThatMayRunAnywhere) {
  if (machine.nodes.size() < 2) GTEST_SKIP() << "one node";
  team ranks(machine, {.place = placement::unbound, .wait = waiting::block});
  ranks.run([](member& me) {
    EXPECT_EQ(me.node(), member::unknown_node);
    EXPECT_EQ(me.node_team().size(), me.size());
  });
}

}  // namespace
}  // namespace coset::vm_test
