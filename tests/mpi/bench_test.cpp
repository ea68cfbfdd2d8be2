// SPDX-License-Identifier: Apache-2.0
// The contestants over processes: every one plays, and every result is right.
#include "command/measure/harness/hybrid.hpp"

#include "command/measure/harness/rounds.hpp"
#include "mpi/processes.hpp"

namespace coset::mpi_test {
namespace {

std::vector<unsigned> processors() {
  std::vector<unsigned> all;
  auto const machine = topology::machine();
  for (auto const& p : machine.place(static_cast<rank_t>(processes()), placement::unbound)) all.push_back(p.os_index);
  return all;
}

TEST(Bench, ContestantsOverProcessesAreRightInBothTimings) {
  rank_t const threads = processes() % 2 == 0 ? 2 : 1;
  measure::hybrid_stage stage(threads, processors());
  if (process() != 0) return stage.serve();
  auto const owned = stage.players();
  ASSERT_EQ(owned.size(), 3u);
  for (auto const timed : {measure::timing::cycle, measure::timing::call}) {
    for (std::size_t const count : {2u, 5000u}) {
      measure::workload const work(
          {measure::element_kind::float64, measure::operation_kind::plus, count, stage.ranks()});
      for (auto const& player : owned) {
        auto const made = player->burst(work, {timed, 1, 3});
        EXPECT_EQ(made.nanoseconds.size(), 3u) << player->name();
        EXPECT_EQ(made.wrong, 0u) << player->name() << ", " << count;
        for (double const n : made.nanoseconds) EXPECT_GT(n, 0) << player->name();
      }
    }
  }
}

TEST(Bench, ThreadsThatDoNotDivideTheProcessesAreRefusedEverywhere) {
  auto const thrown = outcome_of([] { measure::hybrid_stage(static_cast<rank_t>(processes()) + 1, processors()); });
  EXPECT_EQ(thrown.type, type_name<argument_error>()) << thrown.message;
}

}  // namespace
}  // namespace coset::mpi_test
