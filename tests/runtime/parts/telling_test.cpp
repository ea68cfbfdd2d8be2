// SPDX-License-Identifier: Apache-2.0
// What ranks tell of themselves, and where others find them.
#include <optional>

#include "coset/detail/task_run.hpp"
#include "runtime/executor.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/memory/use_staging.hpp"
#include "runtime/rank_handle.hpp"
#include "support/teams.hpp"
#include "team/team_state.hpp"

namespace coset::team_test {
namespace {

using runtime::act_of;
using runtime::described_operations;

/// One that has begun so many operations, the n-th of n elements.
struct told_line {
  explicit told_line(std::uint32_t latest, std::uint32_t first = 1) {
    for (std::uint32_t n = first; n != latest + 1; ++n) {
      planning::signature{.what = verb::allreduce, .reduction = &detail::table_of<int, plus>(), .count = n}.describe(
          line->doing[n % described_operations], {}, false);
      line->begun[n % runtime::told_operations] = std::uint64_t{n} << 32;
    }
  }
  std::unique_ptr<runtime::own_line> line = std::make_unique<runtime::own_line>();
};

TEST(Told, IsWhatARankDidAsLongAsItIsDescribed) {
  for (std::uint32_t const latest : {1u, 5u, 8u, 9u, 40u}) {
    told_line const told(latest);
    EXPECT_EQ(runtime::latest_of(*told.line), latest);
    for (std::uint32_t n = 1; n <= latest; ++n) {
      bool const described = latest - n < described_operations;
      EXPECT_EQ(act_of(*told.line, n, true), (described ? "" : "has gone on and ") +
                                                 std::string("calls allreduce of ") +
                                                 std::to_string(described ? n : latest) + " int (coset::plus)");
    }
  }
}

TEST(Told, GoesOnWhereNumbersWrapAround) {
  told_line const told(3, 0xffff'fff0u);
  EXPECT_EQ(runtime::latest_of(*told.line), 3u);
  EXPECT_EQ(act_of(*told.line, 0xffff'ffffu, true), "calls allreduce of 4294967295 int (coset::plus)");
  EXPECT_EQ(act_of(*told.line, 0xffff'fff0u, true), "has gone on and calls allreduce of 3 int (coset::plus)");
}

TEST(Told, IsElsewhereOnlyUnderTheSameNumberWithAnotherHistory) {
  told_line const told(40);
  EXPECT_FALSE(runtime::has_gone_elsewhere(*told.line, 40, 0));
  EXPECT_TRUE(runtime::has_gone_elsewhere(*told.line, 40, 1));
  EXPECT_FALSE(runtime::has_gone_elsewhere(*told.line, 41, 1));
  EXPECT_FALSE(runtime::has_gone_elsewhere(*told.line, 8, 1));  // no longer told
}

/// A handle is used again, but not by those who knew its last rank.
TEST(Handle, OfARankThatIsGoneIsNobodys) {
  auto const ranks = detail::make_task_team(1);
  detail::rank_state& rank = *ranks->state().members[0];
  std::optional<runtime::own_handle> handle(std::in_place, rank);
  auto const reference = handle->reference();
  EXPECT_EQ(reference.rank(), &rank);
  handle.reset();
  EXPECT_EQ(reference.rank(), nullptr);
  handle.emplace(rank);
  EXPECT_EQ(handle->reference().handle, reference.handle);
  EXPECT_EQ(handle->reference().rank(), &rank);
  EXPECT_EQ(reference.rank(), nullptr);
}

TEST(Channel, IsOpenedOnce) {
  auto const ranks = detail::make_task_team(3);
  detail::rank_state& rank = *ranks->state().members[1];
  for (std::size_t const bytes : {1u, 100'000u}) {
    runtime::use_staging(rank, 2, bytes);
    EXPECT_EQ(rank.ends[2].lines.size(), 3u);
    EXPECT_EQ(rank.ends[2].bases.size(), program::rows * 3u);
    EXPECT_GE(rank.ends[2].capacity, bytes);
    for (rank_t r = 0; r < 3; ++r) {
      EXPECT_EQ(rank.ends[2].lines[r], &rank.shared.arena.lines(2, r));
      for (std::uint32_t const parity : {0u, 1u}) {
        EXPECT_EQ(rank.ends[2].bases[(program::row_staging + parity) * 3 + r],
                  rank.shared.arena.staging_for(2, bytes).at(r, parity));
      }
    }
  }
}

TEST(Arena, HasNoMoreStagingThanCanBeCounted) {
  runtime::arena lines(runtime::node_list(3, runtime::anywhere));
  for (std::size_t const bytes : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4 + 1, SIZE_MAX / 8, SIZE_MAX / 16})
    EXPECT_THROW((void)lines.staging_for(0, bytes), std::bad_alloc) << bytes;
  EXPECT_NO_THROW((void)lines.staging_for(0, 1000));
}

/// What tells this generation's operations from older ones.
TEST(Salt, IsThatOfTheGenerationOrOfTheRoundThatProcessesAgreeOn) {
  for (bool const messages : {false, true}) {
    for (bool const one_process : {false, true}) {
      runtime::node_list const nodes(2, runtime::anywhere);
      auto const bytes = runtime::arena::bytes_for(nodes, 64 * 1024);
      runtime::shared_memory shared({.in_root = {0, 1}}, {.one_process = one_process, .has_messages = messages},
                                    waiting::automatic, nodes, one_process ? numa::memory() : numa::memory(bytes),
                                    runtime::domain{2}, memory_kind::standard);
      auto const salt_of = [&](std::uint32_t generation, std::uint32_t round) {
        shared.begin_generation(generation);
        shared.begin_shared_round(round);
        return shared.marks.salt;
      };
      auto const first = salt_of(5, 3);
      EXPECT_EQ(salt_of(7, 3) == first, messages || !one_process);
      EXPECT_EQ(salt_of(5, 4) == first, !messages && one_process);
      EXPECT_EQ(salt_of(5, 3), first);
    }
  }
}

}  // namespace
}  // namespace coset::team_test
