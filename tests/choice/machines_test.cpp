// SPDX-License-Identifier: Apache-2.0
// The choice against each fixed algorithm, by the times that the model predicts, on descriptions of large machines.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "effort.hpp"
#include "numa/machines.hpp"
#include "study/explain.hpp"

namespace coset::choice {
namespace {

question on(topology const& machine, rank_t ranks, verb what, std::size_t bytes) {
  auto const places = machine.place(ranks, placement::compact);
  question q{.what = what, .ranks = ranks, .bytes = bytes};
  put_on_levels(q, places);
  return q;
}

/// Schedules that nobody has measured have to promise a tenth.
void expect_cheapest(question const& q, std::string const& where) {
  if (q.ranks <= few) return;  // fold at once wherever they are
  auto const found = explain(q);
  ASSERT_FALSE(found.candidates.empty());
  for (explained const& one : found.candidates) {
    double const gain = one.kind == schedule_kind::other ? found.gain : 1;
    EXPECT_LE(found.chosen.seconds() * gain, one.seconds() * (1 + 1e-9))
        << where << ", " << name_of(q.what) << " of " << q.bytes << " bytes on " << q.ranks
        << " ranks: " << found.chosen.what.algorithm.text() << " is chosen, not " << one.what.algorithm.text();
  }
}

TEST(ChoiceOnMachines, IsPredictedToTakeNoLongerThanAnyFixedAlgorithm) {
  rank_t const most = test::by_effort<rank_t>(10, 16, 64);
  test::sample cases(5);
  for (topology const& machine : numa_test::all_machines()) {
    rank_t const ranks = std::min<rank_t>(machine.cores(), most);
    for (verb const what : {verb::allreduce, verb::reduce_scatter})
      for (std::size_t const bytes : {std::size_t{8}, std::size_t{4} << 10, std::size_t{1} << 20}) {
        if (!cases.skips()) expect_cheapest(on(machine, ranks, what, bytes), machine.name);
      }
  }
}

TEST(ChoiceOnMachines, IsSoOnServersOfTheDay) {
  for (char const* const server : {"package:2 numa:1 l3:1 core:64 pu:1", "package:1 l3:24 core:8 pu:1",
                                   "package:4 numa:1 l3:1 core:28 pu:1", "package:8 numa:1 l3:1 core:16 pu:1"}) {
    auto const machine = topology::synthetic(server);
    rank_t const all = machine.cores();
    for (std::size_t const bytes : {std::size_t{64}, std::size_t{64} << 10, std::size_t{16} << 20}) {
      auto const asked = on(machine, test::by_effort<rank_t>(all / 4, all / 2, all), verb::allreduce, bytes);
      expect_cheapest(asked, server);
    }
  }
}

}  // namespace
}  // namespace coset::choice
