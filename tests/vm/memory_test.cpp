// SPDX-License-Identifier: Apache-2.0
// Every page that a rank owns lies on its node, wherever ranks are and whoever writes to it first.
#include <algorithm>
#include <barrier>
#include <memory>
#include <thread>

#include "numa/binding.hpp"
#include "numa/mask.hpp"
#include "team/team_state.hpp"
#include "vm/machine.hpp"
#include "vm/pages.hpp"

namespace coset::vm_test {
namespace {

struct Memory : ::testing::Test {
  void SetUp() override {
    int here = 0;
    if (numa::node_of(&here)) return;
    ASSERT_TRUE(booted().empty()) << "a kernel of tests/vm/run does not tell where memory is";
    GTEST_SKIP() << "the system does not tell where memory is";
  }
  unsigned os_node(unsigned node) const { return machine.nodes.at(node).os_index; }
  /// Where fast memory belongs to the node, arrays are there.
  unsigned os_node_of_arrays(unsigned node) const {
    return machine.memories_for(memory_kind::high_bandwidth, node).front().os_index;
  }
  topology const machine = topology::machine();
};

constexpr std::size_t smallest_staging = 64 << 10, largest_touched = 512 << 10;

/// Rank 0 writes to all that others own before they do, so that where a page is does not follow from who used it. The
/// others wait elsewhere, as a collective would be the first use.
void write_first(member& me, std::barrier<>& everybody) {
  runtime::arena& arena = me.state().shared.arena;
  for (rank_t r = 0; me.rank() == 0 && r < me.size(); ++r) {
    for (std::uint32_t channel = 0; channel < runtime::channels; ++channel) {
      auto& lines = arena.lines(channel, r);
      for (auto& entry : lines.entry) entry.tag.fetch_add(0);
      lines.progress.signalled.fetch_add(0);
    }
    arena.attention(r).sleepers.fetch_add(0);
    arena.own(r).busy.fetch_add(0);
    for (std::size_t capacity = smallest_staging; capacity <= largest_touched; capacity *= 2) {
      for (std::uint32_t const parity : {0u, 1u})
        std::fill_n(arena.staging_for(0, capacity).at(r, parity), capacity, std::byte{});
    }
  }
  everybody.arrive_and_wait();
}

/// Through entry lines, staging of all sizes, views, and the channels of split phase.
void use(member& me, std::barrier<>& everybody) {
  write_first(me, everybody);
  for (std::size_t const count : {1, 7, 300, 20'000, 200'000}) {
    std::vector<long> items(count, 1), all(count);
    allreduce(me, items, all);
    broadcast(me, all, me.size() - 1);
    reduce(me, items, all, 0);
    scan(me, items, all);
    (void)allreduce_view(me, items);
  }
  std::vector<std::vector<long>> several(runtime::split_channels, std::vector<long>(3000, 1));
  std::vector<request> under_way;
  for (auto& items : several) under_way.push_back(start_allreduce(me, items));
  for (auto& each : under_way) each.wait();
}

/// What the rank owns in its team's arena, `on` that node of the system's.
void expect_arena_on(unsigned on, member& me) {
  detail::rank_state& state = me.state();
  runtime::arena& arena = state.shared.arena;
  std::string const rank = "rank " + std::to_string(me.rank());
  for (std::uint32_t channel = 0; channel < runtime::channels; ++channel) {
    std::string const where = rank + ", channel " + std::to_string(channel);
    auto const& lines = arena.lines(channel, me.rank());
    expect_on(on, &lines, sizeof lines, "lines of " + where);
    for (std::size_t capacity = smallest_staging; capacity <= state.ends[channel].capacity; capacity *= 2) {
      bool const touched = channel == 0 && capacity <= largest_touched;
      for (std::uint32_t const parity : {0u, 1u})
        expect_on(on, arena.staging_for(channel, capacity).at(me.rank(), parity), capacity, "staging of " + where,
                  touched);
    }
  }
  EXPECT_TRUE(state.ends[0].capacity > 0 || me.size() == 1);
  expect_on(on, &arena.attention(me.rank()), sizeof(runtime::attention_line), "attention of " + rank);
  expect_on(on, &arena.own(me.rank()), sizeof(runtime::own_line), "own line of " + rank);
  bool const shown_here = state.team.node_leaders[me.rank()] == me.rank();
  if (shown_here)
    expect_on(on, state.memory.shared_view.at, state.memory.shared_view.capacity, "view of " + rank, false);
}

TEST_F(Memory, OfTheArenaIsOnItsOwnersNode) {
  for (way const& how : ways(machine)) {
    SCOPED_TRACE(how.name);
    team ranks(machine, how.options);
    std::barrier<> everybody(ranks.size());
    ranks.reserve(300'000);
    ranks.run([&](member& me) {
      use(me, everybody);
      barrier(me);
      expect_arena_on(os_node(me.node()), me);
      barrier(me);
    });
  }
}

TEST_F(Memory, OfTeamsThatAreSplitIsOnItsOwnersNode) {
  for (way const& how : ways(machine)) {
    SCOPED_TRACE(how.name);
    team ranks(machine, how.options);
    std::barrier<> everybody(ranks.size());
    ranks.run([&](member& me) {
      for (int const colour : {static_cast<int>(me.node()), static_cast<int>(me.rank() % 2)}) {
        member part = me.split(colour);
        use(part, everybody);
        barrier(part);
        expect_arena_on(os_node(me.node()), part);
        barrier(part);
      }
    });
  }
}

/// From one page to huge ones, each written first by a rank of another node than its owner's.
TEST_F(Memory, OfBuffersIsOnItsOwnersNodeWhoeverWritesFirst) {
  for (way const& how : ways(machine)) {
    SCOPED_TRACE(how.name);
    team ranks(machine, how.options);
    for (std::size_t const count : {100, 5000, 400'000}) {
      std::vector<buffer<long>> all(ranks.size());
      ranks.run([&](member& me) {
        rank_t const peer = (me.rank() + me.size() / 2) % me.size();
        buffer<long>& mine = all[me.rank()];
        mine = buffer<long>(me, count);
        barrier(me);
        std::fill(all[peer].begin(), all[peer].end(), 1);
        barrier(me);
        allreduce(me, mine);
        EXPECT_EQ(std::count(mine.begin(), mine.end(), me.size()), static_cast<std::ptrdiff_t>(count));
        expect_on(os_node_of_arrays(me.node()), mine.data(), count * sizeof(long),
                  "buffer of rank " + std::to_string(me.rank()));
      });
    }
  }
}

TEST_F(Memory, OfBuffersIsOnTheNodeNamed) {
  for (numa_node const& node : machine.nodes) {
    buffer<char> here(node, 3 << 20);
    std::fill(here.begin(), here.end(), 1);
    expect_on(node.os_index, here.data(), here.size(), "buffer");
  }
}

/// The first node of such a process is not the first of the system.
TEST_F(Memory, OfAProcessOnTheLastNodeAloneIsThere) {
  std::thread([&] {
    unsigned const last = static_cast<unsigned>(machine.nodes.size()) - 1;
    numa::mask mask;
    for (processor const& each : machine.processors) {
      if (each.node == last) mask.merge(numa::mask::single(each.os_index));
    }
    ASSERT_TRUE(mask.apply());
    team ranks({.wait = waiting::block});
    std::barrier<> everybody(ranks.size());
    EXPECT_EQ(ranks.size(), mask.count());
    ranks.run([&](member& me) {
      EXPECT_EQ(me.node(), 0u);
      use(me, everybody);
      buffer<long> mine(me, 5000);
      std::fill(mine.begin(), mine.end(), 1);
      barrier(me);
      expect_on(os_node_of_arrays(last), mine.data(), mine.size() * sizeof(long), "buffer");
      expect_arena_on(os_node(last), me);
      barrier(me);
    });
  }).join();
}

/// A thread that is not pinned when its team is made, and then pins itself, gets its memory where it is.
TEST_F(Memory, OfBuffersOfUnboundRanksIsWhereItIsFirstTouched) {
  team ranks(machine, {.place = placement::unbound, .wait = waiting::block});
  ranks.run([&](member& me) {
    numa::saved_mask const before;
    processor const& place = machine.processors[(me.rank() + 1) % machine.processors.size()];
    numa::bind_this_thread(place.os_index);
    buffer<long> mine(me, 100'000);
    std::fill(mine.begin(), mine.end(), 1);
    allreduce(me, mine);
    // The only node is known of each thread.
    unsigned const on = machine.nodes.size() == 1 ? os_node_of_arrays(0) : os_node(place.node);
    expect_on(on, mine.data(), mine.size() * sizeof(long), "buffer");
  });
}

/// Threads of the caller's, pinned by the caller: from their join on, what is made for them is on their node.
TEST_F(Memory, OfAdoptedRanksIsOnTheNodeOfTheirMask) {
  auto const ranks = team::adopt(machine.cores(), {.wait = waiting::block});
  std::barrier<> everybody(ranks->size());
  std::vector<std::thread> threads;
  for (rank_t r = 0; r < ranks->size(); ++r) {
    threads.emplace_back([&, r] {
      processor const& place = machine.processors[r];
      numa::bind_this_thread(place.os_index);
      member_guard const guard = ranks->join(r);
      member& me = const_cast<member_guard&>(guard);
      EXPECT_EQ(me.node(), place.node);
      use(me, everybody);
      buffer<long> mine(me, 5000);
      std::fill(mine.begin(), mine.end(), 1);
      barrier(me);
      expect_on(os_node_of_arrays(place.node), mine.data(), mine.size() * sizeof(long), "buffer");
      auto const& staging = me.state().shared.arena.staging_for(0, smallest_staging);
      expect_on(os_node(place.node), staging.at(r, 0), smallest_staging, "staging");
      member part = me.split(0);
      use(part, everybody);
      barrier(part);
      expect_arena_on(os_node(place.node), part);
      barrier(me);
    });
  }
  for (std::thread& each : threads) each.join();
}

}  // namespace
}  // namespace coset::vm_test
