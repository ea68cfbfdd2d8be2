// SPDX-License-Identifier: Apache-2.0
// No more than needed: programs that are right do nothing twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "calls.hpp"

namespace coset::program::testing {
namespace {

/// Programs of all storages over schedules of one step and of several.
std::vector<compiled> programs() {
  std::vector<compiled> all;
  for (rank_t const p : {2u, 4u, 7u, 12u})
    for (std::string const algorithm :
         {"direct", "ring", "generalized(radix=2)", "recursive_doubling", "product(dims=3x2x2)"})
      for (std::string const& storage : policy_names())
        for (bool const widens : {false, true}) {
          policy how = storage_of(storage, arrays::apart);
          how.widens = widens;
          try {
            all.push_back(*call_of(plan_of(algorithm, p), how).code);
          } catch (schedule_error const&) {  // not every storage serves every schedule
          }
        }
  EXPECT_GT(all.size(), 100u);
  return all;
}

/// The same move of the block after, with nothing between.
bool could_be_one(compiled const& c, program const& p, instruction const& a, instruction const& b) {
  bool const waits = b.waits_end > a.waits_end;
  if (waits || a.signal != 0 || a.foreign != b.foreign || a.what != action::fold || b.what != action::fold)
    return false;
  if (a.sources != b.sources || a.destinations != b.destinations || b.destinations == 0) return false;
  if (a.block_end != b.block) return false;
  for (std::uint32_t k = 0; k < a.sources + a.destinations; ++k) {
    operand const &x = p.operands[a.operands + k], &y = p.operands[b.operands + k];
    if (x.base[0] != y.base[0] || x.piece + (b.block - a.block) != y.piece) return false;
    if (p.forms[a.operands + k] != p.forms[b.operands + k]) return false;
    // Beside partial results elements lie apart.
    bool const staged = x.base[0] / c.ranks >= row_staging;
    if (c.wide && staged && p.forms[a.operands + k] == detail::form::element) return false;
  }
  return true;
}

TEST(Compact, NeighbouringBlocksAreMovedInOneGo) {
  std::size_t long_moves = 0;
  for (compiled const& c : programs())
    for (program const& p : c.of)
      for (std::size_t i = 0; i < p.code.size(); ++i) {
        long_moves += p.code[i].destinations > 0 && p.code[i].block_end - p.code[i].block > 1;
        ASSERT_FALSE(i > 0 && could_be_one(c, p, p.code[i - 1], p.code[i]))
            << c.ranks << " ranks, " << policy_name(c.storage) << ", instruction " << i;
      }
  EXPECT_GT(long_moves, 100u);
}

/// Ranks that look at each other's entry anyway; each pair once.
TEST(Compact, RanksThatMeetAreNotIntroduced) {
  std::size_t introduced = 0;
  for (compiled const& c : programs()) {
    std::set<std::pair<rank_t, rank_t>> met;
    for (rank_t r = 0; r < c.ranks; ++r)
      for (wait const& w : c.of[r].waits)
        if (w.signal == entry_signal) met.insert(std::minmax(r, w.rank));
    for (rank_t r = 0; r < c.ranks; ++r)
      for (rank_t const q : c.of[r].unmet) {
        EXPECT_TRUE(met.insert(std::minmax(r, q)).second) << "ranks " << r << " and " << q;
        ++introduced;
      }
    if (c.full) {
      EXPECT_EQ(met.size(), std::size_t{c.ranks} * (c.ranks - 1) / 2);
    }
  }
  EXPECT_GT(introduced, 100u);
}

/// What a rank reads of the same peers in a step is one fold, with one wait on each of them and one signal, however many blocks
/// it has; two or three where some of them go elsewhere than others.
TEST(Compact, ARankFoldsAStepOfAProductAtOnce) {
  constexpr std::array most_folds{6, 5, 3, 3}, most_signals{5, 5, 4, 3};  // of 11, 12, 24 and 3 blocks
  for (std::size_t saved = 0; saved < most_folds.size(); ++saved) {
    auto const c = call_of(plan_of(fmt::format("product(dims=4x4x2,saved_steps={})", saved), 32), "staged");
    for (program const& p : c.code->of) {
      EXPECT_LE(std::ranges::count_if(p.code, [](instruction const& i) { return i.sources > 1; }), most_folds[saved]);
      EXPECT_LE(std::ranges::max(p.code, {}, &instruction::signal).signal, most_signals[saved]) << "saved " << saved;
    }
  }
}

std::ptrdiff_t copies_in(program const& p) {
  return std::ranges::count_if(p.code, [](instruction const& i) { return i.sources == 1 && i.destinations > 0; });
}

/// What is pushed to a rank in a step, too.
TEST(Compact, ARankMovesOnWhatArrivesInAStepAtOnce) {
  constexpr std::array most_copies{18, 11, 5, 1};
  for (std::size_t saved = 0; saved < most_copies.size(); ++saved) {
    auto const c = call_of(plan_of(fmt::format("product(dims=4x4x2,saved_steps={})", saved), 32), "push");
    for (program const& p : c.code->of) EXPECT_LE(copies_in(p), most_copies[saved]) << "saved " << saved;
  }
}

/// Whoever has a piece stores it into the root's array, and waits for nothing but the root; else the root fetches all.
TEST(Compact, PiecesOfAGatherAreStoredByTheirOwners) {
  constexpr rank_t ranks = 5, root = 2;
  for (std::string const storage : {"zero_copy", "zero_copy_push", "zero_copy_pull"}) {
    bool const fetches = storage == "zero_copy_pull";
    auto const c = call_of(plan_of("direct", ranks, verb::gather, root), storage);
    for (rank_t r = 0; r < ranks; ++r) {
      program const& p = c.code->of[r];
      EXPECT_EQ(copies_in(p), r == root ? (fetches ? ranks : 1) : (fetches ? 0 : 1)) << storage << ", rank " << r;
      for (instruction const& i : p.code) {
        if (i.destinations == 0) continue;
        EXPECT_EQ(p.operands[i.operands + i.sources].base[0], row_output * ranks + root) << storage << ", rank " << r;
      }
      if (r == root || fetches) continue;
      ASSERT_EQ(p.waits.size(), 1u) << storage << ", rank " << r;
      EXPECT_EQ(p.waits.front().rank, root);
      EXPECT_EQ(p.waits.front().signal, entry_signal);
    }
  }
}

/// Red if a rank's own piece is put into its place once others' have come, instead of while they are on their way.
TEST(Compact, OwnPiecesAreCopiedBeforeAnybodyIsAwaited) {
  constexpr rank_t ranks = 4;
  for (verb const what : {verb::gather, verb::scatter, verb::all_to_all})
    for (std::string const storage : {"staged_pull", "staged", "zero_copy"}) {
      std::size_t own = 0;
      auto const c = call_of(plan_of("direct", ranks, what), storage);
      for (rank_t r = 0; r < ranks; ++r) {
        program const& p = c.code->of[r];
        for (instruction const& i : p.code) {
          if (i.sources != 1 || i.destinations != 1) continue;
          bool const is_own = p.operands[i.operands].base[0] == row_input * ranks + r &&
                              p.operands[i.operands + 1].base[0] == row_output * ranks + r;
          own += is_own;
          EXPECT_TRUE(!is_own || i.waits_end == 0) << name_of(what) << ", " << storage << ", rank " << r;
        }
      }
      EXPECT_EQ(own, what == verb::all_to_all ? ranks : 1) << name_of(what) << ", " << storage;
    }
}

/// [rank]: how many blocks it copies into others' outputs, and how many out of others' inputs.
using crossings = std::vector<std::pair<std::size_t, std::size_t>>;
crossings crossings_of(compiled const& all) {
  crossings found(all.ranks);
  for (rank_t r = 0; r < all.ranks; ++r) {
    for (instruction const& i : all.of[r].code) {
      std::size_t const blocks = i.block_end - i.block;
      for (std::uint32_t k = 0; k < i.sources + i.destinations; ++k) {
        if (all.of[r].operands[i.operands + k].base[0] % all.ranks == r) continue;
        (k < i.sources ? found[r].second : found[r].first) += blocks;
      }
    }
  }
  return found;
}

/// All owners at once, each by one move. The root of a broadcast would have everything to store: it has one block.
TEST(Compact, InputsAreStoredByTheirOwnersWhereTheStorageSaysSo) {
  auto const stored = [](verb what, rank_t ranks, rank_t root) {
    return crossings_of(*call_of(plan_of("direct", ranks, what, root), "zero_copy_store").code);
  };
  EXPECT_EQ(stored(verb::broadcast, 2, 1), (crossings{{0, 1}, {1, 0}}));
  EXPECT_EQ(stored(verb::allgather, 3, 0), (crossings{{2, 0}, {2, 0}, {2, 0}}));
  EXPECT_EQ(stored(verb::all_to_all, 3, 0), (crossings{{2, 0}, {2, 0}, {2, 0}}));
  EXPECT_EQ(stored(verb::scatter, 3, 1), (crossings{{0, 0}, {2, 0}, {0, 0}}));
}

/// In which ranks do not all begin with the same one.
TEST(Compact, PeersOfAStepKeepTheOrderOfTheSchedule) {
  auto const plan = plan_of("product(dims=4x4x2)", 32);
  auto const c = call_of(plan, "staged_pull");
  for (rank_t r = 0; r < c.code->ranks; ++r) {
    program const& p = c.code->of[r];
    std::map<std::uint32_t, std::vector<rank_t>> made, wanted;  // by step: those that are read first
    auto const note = [](std::vector<rank_t>& all, rank_t peer) {
      if (std::ranges::find(all, peer) == all.end()) all.push_back(peer);
    };
    for (std::size_t k = 0; k < p.code.size(); ++k) {
      if (p.code[k].sources == 0) continue;
      rank_t const peer = p.operands[p.code[k].operands].base[0] % c.code->ranks;
      if (peer != r) note(made[p.steps[k]], peer);
    }
    for (std::size_t i = 0; i < plan->steps.size(); ++i) {
      for (auto const& a : plan->steps[i]) {
        rank_t const peer = plan->from(a).front().rank;
        if (a.rank == r && peer != r) note(wanted[static_cast<std::uint32_t>(i + 1)], peer);
      }
    }
    EXPECT_EQ(made, wanted) << "rank " << r;
  }
}

/// As traces tell them.
TEST(Compact, StepsAreThoseOfTheSchedule) {
  for (std::string const algorithm : {"direct", "ring", "generalized(radix=2)", "product(dims=3x2x2)"}) {
    auto const plan = plan_of(algorithm, 12);
    for (std::string const storage : {"staged", "push"}) {
      auto const c = call_of(plan, storage);
      for (rank_t r = 0; r < c.code->ranks; ++r) {
        program const& p = c.code->of[r];
        std::set<std::uint32_t> folded, expected;
        for (std::size_t k = 0; k < p.code.size(); ++k) {
          if (p.code[k].sources > 1) folded.insert(p.steps[k]);
        }
        for (std::size_t i = 0; i < plan->steps.size(); ++i) {
          for (auto const& a : plan->steps[i]) {
            if (a.rank == r && plan->from(a).size() > 1) expected.insert(static_cast<std::uint32_t>(i + 1));
          }
        }
        EXPECT_EQ(folded, expected) << algorithm << ' ' << storage << ", rank " << r;
        EXPECT_TRUE(std::ranges::is_sorted(p.steps)) << algorithm << ' ' << storage;
        EXPECT_EQ(p.last_step, plan->steps.size()) << algorithm << ' ' << storage;
      }
    }
  }
}

/// Rank 1 brings half of the root's vector to sixteen ranks, which read it while it still copies.
TEST(Compact, RunsOfRootedVerbsAreWaitedForInQuarters) {
  auto const c = call_of(plan_of("product(dims=2x16,saved_steps=1)", 32, verb::broadcast), "staged_pull");
  program const& p = c.code->of[1];
  EXPECT_EQ(std::ranges::count_if(p.code, [](instruction const& i) { return i.signal != 0; }), 4);
}

/// Red if partial results that do not live at once have rooms of their own, or do not lie in outputs where those are free.
TEST(Compact, StagingIsForWhatLivesAtOnce) {
  struct staging {
    std::string algorithm, storage;
    std::uint32_t layers;
  };
  for (staging const& of : std::vector<staging>{{"direct", "staged", 1},
                                                {"direct", "zero_copy", 0},
                                                {"ring", "staged_pull", 1},
                                                {"ring", "push", 1},
                                                {"generalized(radix=2)", "staged", 1},
                                                {"generalized(radix=2)", "zero_copy", 0},
                                                {"generalized(radix=2)", "output", 0},
                                                {"recursive_doubling", "staged", 2},
                                                {"recursive_doubling", "zero_copy", 1},
                                                {"recursive_doubling", "output", 2}})
    EXPECT_EQ(call_of(plan_of(of.algorithm, 8), of.storage).code->layers, of.layers) << of.algorithm << of.storage;
}

/// Where outputs are one array, whoever meets all has seen them all.
TEST(Compact, NobodyIsIntroducedWhereSomebodyMeetsAll) {
  for (rank_t const p : {2u, 5u, 9u}) {
    for (auto const* const algorithm : {"direct", "naive", "binomial(radix=16)"}) {
      auto const c = call_of(plan_of(algorithm, p), storage_of("output", arrays::apart), arrays::shared,
                             std::vector<rank_t>(p, 0));
      for (program const& of : c.code->of) EXPECT_TRUE(of.unmet.empty()) << algorithm;
    }
  }
}

}  // namespace
}  // namespace coset::program::testing
