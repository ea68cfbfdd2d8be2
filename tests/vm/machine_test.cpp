// SPDX-License-Identifier: Apache-2.0
// The machine is read as it was booted.
#include "vm/machine.hpp"

#include <cstdlib>
#include <numeric>

namespace coset::vm_test {
namespace {

struct Machine : ::testing::Test {
  void SetUp() override {
    if (booted().empty()) GTEST_SKIP() << "not in a machine of tests/vm/run";
    for (unsigned node = 0; node < cores.size(); ++node) {
      if (cores[node] > 0) with_processors.push_back(node);
    }
  }

  std::vector<unsigned> const cores = booted();
  std::vector<unsigned> with_processors;  ///< as the system numbers them
  topology const machine = topology::machine();
};

TEST_F(Machine, HasTheNodesThatHaveProcessorsAndNoOthers) {
  std::vector<unsigned> nodes;
  for (numa_node const& node : machine.nodes) nodes.push_back(node.os_index);
  EXPECT_EQ(nodes, with_processors);
  EXPECT_TRUE(machine.this_system);
}

TEST_F(Machine, HasTheCoresOfEachNode) {
  ASSERT_EQ(machine.nodes.size(), with_processors.size());
  std::vector<unsigned> found(cores.size());
  unsigned next = 0;  // QEMU numbers processors node by node
  for (processor const& each : machine.processors) {
    ++found[machine.nodes[each.node].os_index];
    EXPECT_EQ(each.os_index, next++);
    EXPECT_EQ(each.thread, 0u);
  }
  EXPECT_EQ(found, cores);
  EXPECT_EQ(machine.cores(), std::accumulate(cores.begin(), cores.end(), 0u));
}

TEST_F(Machine, HasTheDistancesBetweenNodesWithProcessors) {
  ASSERT_EQ(machine.distances.size(), with_processors.size());
  for (std::size_t i = 0; i < with_processors.size(); ++i) {
    ASSERT_EQ(machine.distances[i].size(), with_processors.size());
    for (std::size_t j = 0; j < with_processors.size(); ++j) {
      int const apart = std::abs(static_cast<int>(with_processors[i]) - static_cast<int>(with_processors[j]));
      EXPECT_EQ(machine.distances[i][j], i == j ? 10u : 20u + static_cast<unsigned>(apart)) << i << ", " << j;
    }
  }
}

}  // namespace
}  // namespace coset::vm_test
