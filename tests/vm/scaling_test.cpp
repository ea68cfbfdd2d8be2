// SPDX-License-Identifier: Apache-2.0
// The scaling page of a machine of several nodes: every page of every array lies where the page says, and where it should.
// Emulated processors have no distances: that matrices find a machine's shape is shown with given ones
// (tests/cli/scaling_test.cpp); here, that whoever is asked of node a and b runs on a and reads pages of b.
#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "command/bench/scaling/between.hpp"
#include "command/bench/scaling/machine_streams.hpp"
#include "command/bench/scaling/points.hpp"
#include "command/measure/references/streams.hpp"
#include "numa/binding.hpp"
#include "vm/machine.hpp"
#include "vm/pages.hpp"

namespace coset::vm_test {
namespace {

using measure::pages;

struct ScalingPage : ::testing::Test {
  void SetUp() override {
    if (!numa::node_of(&machine)) GTEST_SKIP() << "the system does not tell where memory is";
    // A kernel that moves pages to whoever uses them moves results, which others write.
    if (!booted().empty()) std::ofstream("/proc/sys/kernel/numa_balancing") << 0;
  }
  static std::vector<unsigned> processors_of(cli::scaling_shape const& shape) {
    std::vector<unsigned> all;
    for (auto const& each : shape.places) all.push_back(each.os_index);
    return all;
  }
  unsigned number_of(unsigned node) const { return machine.nodes[node].os_index; }

  static std::map<unsigned, std::size_t> found(std::vector<unsigned> const& processors, pages from, unsigned node = 0,
                                               std::size_t bytes = array_bytes) {
    return measure::streaming({processors, bytes, from, node}).pages_by_node();
  }

  static constexpr std::size_t array_bytes = std::size_t{3} << 20, arrays = 3;
  topology const machine = topology::machine();
  std::vector<std::vector<unsigned>> const cores = cli::cores_by_node(machine);
  std::size_t const pages_of_rank = arrays * array_bytes / numa::page_bytes();
};

using expected = std::map<unsigned, std::size_t>;

TEST_F(ScalingPage, FirstTouchHasEachRanksPagesOnItsNode) {
  std::vector<unsigned> every;
  expected wanted;
  for (unsigned node = 0; node < cores.size(); ++node) {
    every.insert(every.end(), cores[node].begin(), cores[node].end());
    wanted[number_of(node)] = cores[node].size() * pages_of_rank;
    EXPECT_EQ(found(cores[node], pages::first_touch), (expected{{number_of(node), wanted[number_of(node)]}}));
  }
  EXPECT_EQ(found(every, pages::first_touch), wanted);
}

TEST_F(ScalingPage, BoundPagesAreAllOnTheirNodeWhoeverReadsThem) {
  for (auto const& readers : cores)
    for (unsigned node = 0; node < cores.size(); ++node)
      EXPECT_EQ(found(readers, pages::bound, number_of(node)),
                (expected{{number_of(node), readers.size() * pages_of_rank}}));
}

/// In turns of huge pages, where there are any: twelve for each array are divided by two, three and four nodes.
TEST_F(ScalingPage, InterleavedPagesAreOnAllNodesWithProcessorsAlike) {
  constexpr std::size_t bytes = std::size_t{24} << 20;
  auto const by_node = found({cores.front().front()}, pages::interleaved, 0, bytes);
  std::size_t const each = arrays * bytes / numa::page_bytes() / machine.nodes.size();
  ASSERT_EQ(by_node.size(), machine.nodes.size());
  for (unsigned node = 0; node < machine.nodes.size(); ++node) {
    ASSERT_TRUE(by_node.contains(number_of(node)));
    EXPECT_NEAR(static_cast<double>(by_node.at(number_of(node))), static_cast<double>(each),
                0.05 * static_cast<double>(each));
  }
}

TEST_F(ScalingPage, EveryShapeHasEachRanksArraysOnItsNode) {
  for (auto const& shape : cli::scaling_shapes(machine, 0)) {
    auto const ranks = static_cast<rank_t>(shape.places.size());
    measure::workload const work({.count = 50'000, .ranks = ranks});
    measure::latency_probe on(processors_of(shape));
    std::vector<std::map<unsigned, std::size_t>> where(ranks);
    on.on_each([&](rank_t rank) {
      work.touch(rank);
      where[rank] = work.pages_by_node(rank);
    });
    for (rank_t rank = 0; rank < ranks; ++rank) {
      ASSERT_EQ(where[rank].size(), 1u) << shape.place << ' ' << ranks;
      EXPECT_EQ(where[rank].begin()->first, number_of(shape.places[rank].node)) << shape.place << ' ' << ranks;
    }
  }
}

/// One point with a rank on each of two nodes: an exchange of emulated processors takes milliseconds.
TEST_F(ScalingPage, PointsSayWhereTheirPagesAre) {
  cli::scaling_request request;
  request.verbs = {verb::allreduce};
  request.sizes = {64 << 10};
  request.options.rounds = request.options.iterations = request.options.warmup = 1;
  cli::scaling_shape shape{"scatter", machine.place(std::min(2u, machine.cores()), placement::scatter)};
  std::set<unsigned> nodes;
  for (auto const& each : shape.places) nodes.insert(number_of(each.node));
  bool is_told = false;
  auto const told = [&](std::string const&) { return is_told; };
  cli::measure_points(request, machine, shape, {told, [&](nlohmann::ordered_json const& run) {
                                                  is_told = true;
                                                  std::set<unsigned> on;
                                                  for (auto const& [node, count] : run["pages_on"].items())
                                                    on.insert(static_cast<unsigned>(std::stoul(node)));
                                                  EXPECT_EQ(run["on_nodes"], nlohmann::ordered_json(nodes));
                                                  EXPECT_EQ(run["pages_at_home"], 1.0) << run["pages_on"];
                                                  EXPECT_EQ(on, nodes);
                                                }});
  EXPECT_TRUE(is_told);
}

TEST_F(ScalingPage, MatricesAskCoresOfOneNodeForPagesOfAnother) {
  std::map<std::pair<unsigned, unsigned>, int> asked;
  auto const matrices =
      cli::measure_between(machine, {[&](std::vector<unsigned> const& readers, unsigned node) -> std::optional<double> {
                                       measure::crew crew(readers);
                                       std::vector<unsigned> on(readers.size());
                                       crew.run([&](rank_t rank) { on[rank] = numa::current_node().value(); });
                                       EXPECT_EQ(std::set<unsigned>(on.begin(), on.end()).size(), 1u);
                                       EXPECT_EQ(found(readers, pages::bound, node).begin()->first, node);
                                       ++asked[{on.front(), node}];
                                       return static_cast<double>(100 * on.front() + node);
                                     },
                                     [](std::vector<unsigned> const& some) {
                                       return measure::latency_matrix(some.size(), std::vector<double>(some.size(), 1));
                                     }});
  for (unsigned a = 0; machine.nodes.size() > 1 && a < machine.nodes.size(); ++a)
    for (unsigned b = 0; b < machine.nodes.size(); ++b) {
      EXPECT_EQ((asked[{number_of(a), number_of(b)}]), 1);
      EXPECT_EQ(matrices["read"][a][b], 100.0 * number_of(a) + number_of(b));
    }
}

}  // namespace
}  // namespace coset::vm_test
