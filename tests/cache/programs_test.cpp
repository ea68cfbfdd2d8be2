// SPDX-License-Identifier: Apache-2.0
// Compiled programs under every storage, to their end; and what must not matter to their times.
#include <gtest/gtest.h>

#include <algorithm>

#include "effort.hpp"
#include "lab/cache/by_hand.hpp"
#include "lab/cache/program_script.hpp"
#include "scripts.hpp"

namespace coset::cache {
namespace {

using namespace testing;

program_call call_named(std::string const& algorithm, std::string const& storage, rank_t ranks, std::size_t bytes) {
  program_call c;
  c.ranks = ranks;
  c.bytes = bytes;
  c.algorithm = schedule::algorithm::parse(algorithm);
  c.storage = program::parse_policy(storage);
  return c;
}

machine flat_machine(rank_t ranks) { return machine_like("core:" + std::to_string(ranks) + " pu:1", costs()); }

std::size_t acts_in(std::vector<script> const& scripts) {
  std::size_t sum = 0;
  for (script const& s : scripts) sum += s.acts.size();
  return sum;
}

TEST(Programs, OfDirectEndUnderEveryStorageWithAllThatTheyHold) {
  for (rank_t ranks = 1; ranks <= test::by_effort<rank_t>(6, 16, 40); ++ranks) {
    machine const m = flat_machine(ranks);
    for (std::string const& storage : program::policy_names()) {
      for (std::size_t const bytes :
           {std::size_t{0}, std::size_t{8}, std::size_t{56}, std::size_t{3000}, std::size_t{1} << 20}) {
        work const w = work_of(call_named("direct", storage, ranks, bytes));
        for (timing const how : {timing::call, timing::cycle}) {
          auto const found = simulate(m, w, how);
          std::size_t expected = acts_in(w.call[0]);
          if (how == timing::cycle) expected += acts_in(w.writes_input) + acts_in(w.reads_output);
          EXPECT_EQ(found.acts, expected) << storage << ' ' << ranks << ' ' << bytes;
          EXPECT_GT(found.last, 0) << storage;
          if (how == timing::call) {
            EXPECT_GE(found.last * (1 + 1e-9), found.mean) << storage;
          }
        }
      }
    }
  }
}

TEST(Programs, OfEveryVerbEnd) {
  using enum verb;
  for (auto const what :
       {allreduce, reduce, reduce_scatter, allgather, broadcast, scan, exclusive_scan, gather, scatter, all_to_all}) {
    for (rank_t const ranks : {1u, 2u, 7u, 12u}) {
      machine const m = flat_machine(ranks);
      for (std::size_t const bytes : {std::size_t{8}, std::size_t{100000}}) {
        auto c = call_named("direct", "staged", ranks, bytes);
        c.verb = what;
        c.root = ranks - 1;
        work const w = work_of(c);
        EXPECT_EQ(simulate(m, w, timing::call).acts, acts_in(w.call[0]));
        EXPECT_GT(simulate(m, w, timing::cycle).last, 0);
      }
    }
  }
}

std::size_t lines_in(work const& w, script const& s) {
  std::size_t sum = 0;
  for (cell_range const& range : s.ranges)
    for (std::uint32_t c = range.first; c < range.first + range.count; ++c) sum += w.cells[c].lines;
  return sum;
}

TEST(Programs, LeaveCallersWhatIsTheirs) {
  using enum verb;
  constexpr rank_t ranks = 4, root = 3;
  constexpr std::size_t piece = 4096, piece_lines = piece / line_bytes, whole = ranks * piece_lines;
  struct expected {
    verb what;
    std::size_t root_gives, others_give, root_gets, others_get;
  };
  for (auto const& e :
       {expected{allreduce, whole, whole, whole, whole}, expected{reduce, whole, whole, whole, 0},
        expected{broadcast, whole, 0, whole, whole}, expected{reduce_scatter, whole, whole, piece_lines, piece_lines},
        expected{allgather, piece_lines, piece_lines, whole, whole},
        expected{gather, piece_lines, piece_lines, whole, 0}, expected{scatter, whole, 0, piece_lines, piece_lines},
        expected{all_to_all, whole, whole, whole, whole}}) {
    auto c = call_named("direct", "staged", ranks, ranks * piece);
    c.verb = e.what;
    c.root = root;
    work const w = work_of(c);
    for (rank_t r = 0; r < ranks; ++r) {
      EXPECT_EQ(lines_in(w, w.writes_input[r]), r == root ? e.root_gives : e.others_give)
          << name_of(e.what) << ' ' << r;
      EXPECT_EQ(lines_in(w, w.reads_output[r]), r == root ? e.root_gets : e.others_get) << name_of(e.what) << ' ' << r;
    }
  }
}

TEST(Programs, TakeTheSameTimeEachTime) {
  machine const m = machine_like("package:2 numa:1 l3:2 core:4 pu:1", costs());
  for (char const* const storage : {"staged", "zero_copy", "staged_pull"}) {
    work const w = work_of(call_named("product(dims=4x2x2)", storage, 16, 1 << 16));
    auto const first = simulate(m, w, timing::cycle), second = simulate(m, w, timing::cycle);
    EXPECT_EQ(first.last, second.last);
    EXPECT_EQ(first.mean, second.mean);
    EXPECT_EQ(first.events, second.events);
  }
}

TEST(Programs, TakeTheSameTimeHoweverEqualCoresAreNumbered) {
  topology const t = topology::synthetic("package:2 numa:1 l3:2 core:4 pu:1");
  auto const places = t.place(16, placement::compact);
  // Cores within an L3, L3s within a package, and packages change places.
  auto other = places;
  std::reverse(other.begin(), other.end());
  auto turned = places;
  std::rotate(turned.begin(), turned.begin() + 8, turned.end());
  cache_sizes const sizes{1 << 20, 1 << 20};
  for (std::size_t const bytes : {std::size_t{8}, std::size_t{4096}, std::size_t{1} << 20}) {
    for (char const* const algorithm : {"direct", "product(dims=4x2x2)", "binomial", "recursive_doubling"}) {
      work const w = work_of(call_named(algorithm, "staged", 16, bytes));
      double const here = simulate({places, costs(), sizes}, w, timing::call).last;
      EXPECT_DOUBLE_EQ(simulate({other, costs(), sizes}, w, timing::call).last, here) << algorithm << ' ' << bytes;
      EXPECT_DOUBLE_EQ(simulate({turned, costs(), sizes}, w, timing::call).last, here) << algorithm << ' ' << bytes;
    }
  }
}

TEST(Programs, CrossPackagesAsOftenAsTheirSchedulesSay) {
  costs c;
  c.hands_over = 0;  // else a line is also fetched back to be written again
  machine const m = machine_like("package:2 numa:1 l3:1 core:4 pu:1", c);
  constexpr std::size_t bytes = 8 * 64 * 64;
  auto const crossed = [&](char const* algorithm) {
    auto const found = simulate(m, work_of(call_named(algorithm, "zero_copy_pull", 8, bytes)), timing::call);
    return found.lines[static_cast<std::size_t>(level::machine)];
  };
  // Flat: the owner of a block reads it from four others, and four read its result; but of those only the first from there.
  std::size_t const block = bytes / 64 / 8;
  EXPECT_GE(crossed("direct"), 8 * 4 * block + 8 * block);
  EXPECT_LT(crossed("product(dims=4x2)"), crossed("direct") / 2);
}

/// Lines that have to go from core to core in a cycle, whatever the way: all ranks rewrite what they give, and each reads
/// what it gets.
std::size_t least_lines(verb what, std::size_t others, std::size_t lines) {
  using enum verb;
  bool const goes_in_pieces = what == gather || what == scatter;
  std::size_t const once = goes_in_pieces ? lines * others / (others + 1) : lines * others;
  return what == allreduce ? 2 * once : once;
}

std::vector<program_call> calls_of_many_kinds(rank_t ranks, std::size_t bytes) {
  using enum verb;
  std::vector<program_call> all;
  for (auto const what : {allreduce, reduce, reduce_scatter, allgather, broadcast, scan, gather, scatter, all_to_all}) {
    for (char const* const algorithm : {"direct", "direct(saved_steps=1)", "generalized(radix=4)", "ring"}) {
      for (char const* const storage : {"staged", "staged_pull", "zero_copy", "zero_copy_push", "output"}) {
        auto c = call_named(algorithm, storage, ranks, bytes);
        c.verb = what;
        try {
          work_of(c);
          all.push_back(c);
        } catch (schedule_error const&) {  // undefined, or a value would be lost
        }
      }
    }
  }
  return all;
}

TEST(Programs, MoveWhatHasToMoveAndTakeTheirCoresThatLong) {
  constexpr rank_t ranks = 4;
  machine const m = flat_machine(ranks);
  auto const lines_at_once = get(costs(), "streams");
  double const least_seconds = get(costs(), "l3.read") / lines_at_once;
  for (std::size_t const lines : {std::size_t{4}, std::size_t{64}, std::size_t{1024}}) {
    for (program_call const& c : calls_of_many_kinds(ranks, lines * line_bytes)) {
      auto const found = simulate(m, work_of(c), timing::cycle);
      auto const moved = found.lines[static_cast<std::size_t>(level::l3)];
      auto const where =
          c.algorithm.text() + '/' + program::policy_name(c.storage) + ' ' + std::string(name_of(c.verb));
      EXPECT_GE(moved, least_lines(c.verb, ranks - 1, lines)) << where << ' ' << lines;
      EXPECT_GE(found.last * ranks, static_cast<double>(moved) * least_seconds) << where << ' ' << lines;
    }
  }
}

/// Blocks of whole lines: short ones that share lines are slower than longer ones that do not, as on any machine. Queues
/// that ranks stand in come in another order where folds take longer, so that a few programs gain a little.
TEST(Programs, TakeHardlyEverLessForMore) {
  constexpr rank_t ranks = 4;
  machine const m = flat_machine(ranks);
  std::size_t cases = 0, falls = 0;
  for (program_call c : calls_of_many_kinds(ranks, ranks * line_bytes)) {
    for (timing const how : {timing::call, timing::cycle}) {
      double before = 0;
      for (std::size_t const lines : {1, 2, 3, 4, 5, 8, 16, 17, 32, 64}) {
        c.bytes = ranks * lines * line_bytes;
        double const now = simulate(m, work_of(c), how).last;
        falls += now < before * (1 - 1e-9);
        EXPECT_GE(now, 0.8 * before) << c.algorithm.text() << '/' << program::policy_name(c.storage) << ' '
                                     << name_of(c.verb) << ' ' << c.bytes;
        before = now;
        ++cases;
      }
    }
  }
  EXPECT_GT(cases, 2000u);
  EXPECT_LE(falls, cases / 100);
}

/// However far some ranks get ahead of others.
TEST(Programs, TakeNoLessThanTheMemoryTheyShareTakesForWhatTheyMove) {
  auto const cores = test::by_effort<std::string>("4", "8", "8");
  machine const m = machine_like("package:1 l3:8 core:" + cores + " pu:1", costs());
  for (std::string const& algorithm : {"product(dims=" + cores + "x8)", "product(dims=" + cores + "x4x2)"}) {
    for (char const* const storage : {"zero_copy_push+stream", "zero_copy+stream", "staged"}) {
      auto const found = simulate(m, work_of(call_named(algorithm, storage, m.ranks(), 1 << 23)), timing::cycle);
      double const least = static_cast<double>(found.memory_lines) * line_bytes / get(costs(), "memory.link");
      EXPECT_GT(least, 0);
      EXPECT_GE(found.last, 0.95 * least) << algorithm << ' ' << storage;
    }
  }
}

TEST(ByHand, TwoBarriersAndASlice) {
  for (rank_t const ranks : {1u, 2u, 5u, 16u}) {
    for (std::size_t const bytes : {std::size_t{0}, std::size_t{8}, std::size_t{1} << 16}) {
      work const w = barrier_loop(ranks, bytes);
      auto const found = simulate(flat_machine(ranks), w, timing::call);
      EXPECT_EQ(found.acts, acts_in(w.call[0]));
      EXPECT_GT(simulate(flat_machine(ranks), w, timing::cycle).last, 0);
    }
  }
}

TEST(Growth, HundredsOfRanks) {
  auto const ranks = test::by_effort<rank_t>(64, 256, 512);
  work const w = work_of(call_named("direct", "staged", ranks, 1 << 20));
  auto const found = simulate(flat_machine(ranks), w, timing::call);
  // Every rank copies in, folds a block, and fetches what the others have folded.
  EXPECT_GE(found.acts, std::size_t{ranks} * ranks);
  EXPECT_LE(found.events, 8 * found.acts);
}

}  // namespace
}  // namespace coset::cache
