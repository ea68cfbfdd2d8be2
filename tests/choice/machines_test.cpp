// SPDX-License-Identifier: Apache-2.0
// The choice against each fixed algorithm, by the times that the model predicts, on descriptions of large machines.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "effort.hpp"
#include "numa/machines.hpp"
#include "planning/choice/explain.hpp"
#include "planning/choice/storages.hpp"
#include "planning/schedule/core/verbs.hpp"

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

/// What is said of a candidate that is not chosen, against its own figures.
void expect_true(explained const& one, explanation const& found, question const& q, std::string const& where) {
  auto const says = [&](char const* words) { return one.removed_by.find(words) != std::string::npos; };
  double product = std::numeric_limits<double>::max();
  for (explained const& e : found.candidates)
    if (e.kind != schedule_kind::other) product = std::min(product, e.unmeasured);
  bool is_true = false;
  if (says("few ranks")) is_true = q.ranks <= few;
  if (says("only moves")) is_true = schedule::is_derived(q.what);
  if (says("a shared result")) is_true = has_view(q);
  if (says("factors up to 8")) is_true = uneven_nodes_of(q).empty() && q.what != verb::scan;
  if (says("few schedules are made")) is_true = q.ranks > 64 || q.what == verb::gather || found.candidates.size() > 64;
  if (says("have to be")) is_true = one.kind == schedule_kind::other && one.unmeasured >= found.gain * product;
  if (says("nothing is measured")) is_true = one.unmeasured >= found.chosen.unmeasured * (1 - equal_within);
  if (says("value would be lost")) {
    is_true = one.what.algorithm == found.chosen.what.algorithm;
    auto const made = schedule::make(one.what.algorithm, q.ranks, schedule_of(q.what));
    EXPECT_THROW(program::compile(made, one.what.storage), schedule_error) << where;
  }
  EXPECT_TRUE(is_true) << where << ": " << one.what.algorithm.text() << ": " << one.removed_by;
}

/// The answer is the cheapest of those that its own words leave, and the words are true.
void expect_true_reasons(question const& q, std::string const& machine) {
  auto const found = explain(q);
  auto const where = machine + ", " + std::string(name_of(q.what)) + " of " + std::to_string(q.bytes) + " bytes on " +
                     std::to_string(q.ranks) + " ranks";
  EXPECT_TRUE(found.chosen.removed_by.empty()) << where << ": " << found.chosen.removed_by;
  for (explained const& one : found.candidates) {
    if (one.removed_by.empty()) {
      EXPECT_LE(found.chosen.seconds() * (1 - equal_within), one.seconds())
          << where << ": " << one.what.algorithm.text() << " is not chosen for no reason";
    } else {
      expect_true(one, found, q, where);
    }
  }
}

TEST(WhyOnMachines, NoReasonIsRefutedByItsFigures) {
  test::sample cases(97);
  auto machines = numa_test::all_machines();
  for (char const* const server : {"core:4 pu:1", "core:13 pu:1", "core:31 pu:1", "l3:24 core:8 pu:1",
                                   "package:2 core:11 pu:1", "package:2 numa:2 l3:2 core:4 pu:2"})
    machines.push_back(topology::synthetic(server));
  calibration::memory_facts const known{12 << 20, 2 << 20, 10 << 20};
  for (topology const& machine : machines) {
    rank_t const ranks = std::min<rank_t>(machine.cores(), test::by_effort<rank_t>(16, 24, 112));
    for (verb const what : all_verbs()) {
      for (std::size_t const bytes : {8u, 4096u, 65'536u, 1u << 20, 16u << 20}) {
        for (auto const& memory : {calibration::memory_facts{}, known}) {
          if (cases.skips()) continue;
          auto q = on(machine, ranks, what, bytes);
          q.memory = memory;
          expect_true_reasons(q, machine.name);
        }
      }
    }
  }
}

}  // namespace
}  // namespace coset::choice
