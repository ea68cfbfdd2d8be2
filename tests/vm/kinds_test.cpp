// SPDX-License-Identifier: Apache-2.0
// Kinds of memory: what was asked for is where it should be, page by page, and nothing is on slow memory unasked.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "numa/kinds.hpp"
#include "team/team_state.hpp"
#include "vm/machine.hpp"
#include "vm/pages.hpp"

namespace coset::vm_test {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

struct Kinds : ::testing::Test {
  void SetUp() override {
    if (!numa::machine_of_several_tiers()) GTEST_SKIP() << "this machine's memory is all of one kind";
    for (unsigned node = 0; node < tiers_booted().size(); ++node) {
      if (tiers_booted()[node] == 'f') fast.push_back(node);
      if (tiers_booted()[node] == 's') slow.push_back(node);
    }
  }
  /// As the machine was booted: fast memories belong to the nodes with processors in turn, and so do slow ones.
  unsigned expected(std::vector<unsigned> const& of_kind, unsigned node) const {
    return node < of_kind.size() ? of_kind[node] : machine.nodes[node].os_index;
  }
  std::vector<unsigned> fast, slow;  ///< as the system numbers them
  topology const machine = topology::machine();
};

TEST_F(Kinds, AreThoseOfTheMachineAsBooted) {
  if (fast.empty() && slow.empty()) GTEST_SKIP() << "booted without HMAT";
  for (node_memory const& each : machine.memories) {
    char const booted_as = tiers_booted().at(each.node.os_index);
    EXPECT_EQ(each.tier, booted_as == 'f'   ? memory_tier::fast
                         : booted_as == 's' ? memory_tier::slow
                                            : memory_tier::ordinary)
        << "memory " << each.node.os_index;
  }
  for (unsigned node = 0; node < machine.nodes.size(); ++node) {
    auto const best = [&](memory_kind kind) { return machine.memories_for(kind, node).front().os_index; };
    EXPECT_EQ(best(memory_kind::standard), machine.nodes[node].os_index);
    EXPECT_EQ(best(memory_kind::low_latency), machine.nodes[node].os_index);
    EXPECT_EQ(best(memory_kind::high_bandwidth), expected(fast, node));
    if (node < slow.size()) {
      EXPECT_EQ(best(memory_kind::large_capacity), slow[node]);
    }
  }
}

TEST_F(Kinds, OfNodesWithoutAnyWordOfThemAreSlow) {
  if (!fast.empty() || !slow.empty()) GTEST_SKIP() << "booted with HMAT";
  for (node_memory const& each : machine.memories) {
    bool const has_processors = booted().at(each.node.os_index) > 0;
    EXPECT_EQ(each.tier, has_processors ? memory_tier::ordinary : memory_tier::slow) << "memory " << each.node.os_index;
  }
}

TEST_F(Kinds, OfBuffersAreWhatIsAskedFor) {
  team ranks(machine, {.wait = waiting::block});
  ranks.run([&](member& me) {
    for (auto const kind : {memory_kind::standard, memory_kind::low_latency, memory_kind::high_bandwidth,
                            memory_kind::large_capacity, memory_kind::automatic}) {
      buffer<char> mine(me, 3 * mebibyte, kind);
      std::fill(mine.begin(), mine.end(), 1);
      auto const asked = kind != memory_kind::automatic ? kind : memory_kind::high_bandwidth;
      expect_on(machine.memories_for(asked, me.node()).front().os_index, mine.data(), mine.size(),
                "buffer of kind " + std::to_string(static_cast<int>(kind)));
    }
  });
}

TEST_F(Kinds, OfBuffersAreTheirTeamsUnlessTheySayOtherwise) {
  team ranks(machine, {.wait = waiting::block, .memory = memory_kind::large_capacity});
  ranks.run([&](member& me) {
    buffer<char> mine(me, mebibyte), standard(me, mebibyte, memory_kind::standard);
    std::fill(mine.begin(), mine.end(), 1);
    std::fill(standard.begin(), standard.end(), 1);
    expect_on(machine.memories_for(memory_kind::large_capacity, me.node()).front().os_index, mine.data(), mine.size(),
              "buffer");
    expect_on(machine.nodes[me.node()].os_index, standard.data(), standard.size(), "standard buffer");
  });
}

/// Lines stay where they are reached first.
TEST_F(Kinds, OfStagingAreTheTeamsAndThoseOfLinesAreNot) {
  team ranks(machine, {.wait = waiting::block, .memory = memory_kind::large_capacity});
  ranks.reserve(100'000);
  ranks.run([&](member& me) {
    runtime::arena& arena = me.state().shared.arena;
    auto const& staging = arena.staging_for(0, 100'000);
    std::fill_n(staging.at(me.rank(), 0), 100'000, std::byte{1});
    std::vector<long> values(1000, 1);
    allreduce(me, values);
    EXPECT_EQ(values[999], me.size());
    expect_on(machine.memories_for(memory_kind::large_capacity, me.node()).front().os_index, staging.at(me.rank(), 0),
              100'000, "staging");
    expect_on(machine.nodes[me.node()].os_index, &arena.lines(0, me.rank()), sizeof(runtime::channel_lines), "lines");
    barrier(me);
  });
}

/// A copy of a reducer, whose memory later reducers take over: only those that want the same kind.
TEST_F(Kinds, OfReducersAreWhatIsAskedFor) {
  team ranks(machine, {.wait = waiting::block});
  constexpr std::size_t count = mebibyte / sizeof(double);
  for (int repetition = 0; repetition < 2; ++repetition) {
    for (auto const kind : {memory_kind::standard, memory_kind::high_bandwidth, memory_kind::large_capacity}) {
      reducer<double> sum(count, kind);
      std::vector<double> result(count);
      ranks.run([&](member& me) {
        auto const mine = sum.local(me);
        for (double& each : mine) each += 1;
        expect_on(machine.memories_for(kind, me.node()).front().os_index, mine.data(), mine.size_bytes(), "copy");
        barrier(me);
        sum.combine_into(result, me);
      });
      EXPECT_EQ(result.back(), ranks.size());
    }
  }
}

TEST_F(Kinds, OfSparseReducersAreWhatIsAskedFor) {
  team ranks(machine, {.wait = waiting::block});
  constexpr std::size_t count = mebibyte / sizeof(double);
  sparse_reducer<double> sum(count, {.by = coset::way::private_copies, .memory = memory_kind::large_capacity});
  ranks.run([&](member& me) {
    auto const mine = sum.local(me).span(0, count);
    for (double& each : mine) each += 1;
    expect_on(machine.memories_for(memory_kind::large_capacity, me.node()).front().os_index, mine.data(),
              mine.size_bytes(), "copy");
  });
  sum.reset();
}

struct environment_says {
  explicit environment_says(char const* kind) { setenv("COSET_MEMORY", kind, 1); }
  ~environment_says() { unsetenv("COSET_MEMORY"); }
};

TEST_F(Kinds, AreThoseOfTheEnvironmentWhereTheProgramSaysNothing) {
  environment_says const large("large_capacity");
  team ranks(machine, {.wait = waiting::block});
  ranks.run([&](member& me) {
    buffer<char> mine(me, mebibyte), low(me, mebibyte, memory_kind::low_latency);
    std::fill(mine.begin(), mine.end(), 1);
    std::fill(low.begin(), low.end(), 1);
    expect_on(machine.memories_for(memory_kind::large_capacity, me.node()).front().os_index, mine.data(), mine.size(),
              "buffer");
    expect_on(machine.nodes[me.node()].os_index, low.data(), low.size(), "buffer that says low_latency");
  });
}

TEST_F(Kinds, WithoutRoomGiveWayToTheNodeItself) {
  if (fast.empty()) GTEST_SKIP() << "no fast memory";
  team ranks(machine, {.ranks = 1, .wait = waiting::block});
  ranks.run([&](member& me) {
    unsigned const own = machine.nodes[me.node()].os_index;
    EXPECT_EQ(numa::memory_for(own, memory_kind::high_bandwidth, 1024 * mebibyte), own);
    buffer<char> most(me, 160 * mebibyte);  // of 256
    std::fill(most.begin(), most.end(), 1);
    expect_on(fast[0], most.data(), most.size(), "first buffer");
    buffer<char> next(me, 110 * mebibyte);
    std::fill(next.begin(), next.begin() + 4 * mebibyte, 1);
    expect_on(own, next.data(), 4 * mebibyte, "next buffer");
  });
}

}  // namespace
}  // namespace coset::vm_test
