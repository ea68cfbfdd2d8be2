// SPDX-License-Identifier: Apache-2.0
// What processes bring to an agreement has one outcome, in whatever order it is combined.
#include "mpi/agreement.hpp"

#include <algorithm>
#include <random>

#include "mpi/processes.hpp"

namespace coset::mpi_test {
namespace {

using mpi::communicator;
using mpi::nobody;
using mpi::occasion;
using mpi::record;
using runtime::channel_position;

constexpr std::uint32_t any_epoch[]{1, 0x7ffffff0u, 0xfffffffau};

/// Of a process that may be anywhere, and may have failed; its channels have come up to a dozen operations further than
/// a common `epoch`, beyond the largest number too, or were never used.
record brought_by(int process, std::mt19937_64& choices, std::uint32_t epoch) {
  auto const below = [&](std::uint64_t end) { return choices() % end; };
  record made(static_cast<occasion>(below(3)));
  made.nearest.round = made.farthest.round = static_cast<std::uint32_t>(below(2));
  made.nearest.process = made.farthest.process = process;
  if (below(3) == 0) {
    made.unwell = process;
    made.why = runtime::cause::argument;
    made.say("of process " + std::to_string(process));
  }
  made.failed = below(4) == 0;
  made.wishes = record::range(7 + below(2));
  made.threads.kind = record::range(below(2));
  made.latest_round = static_cast<std::uint32_t>(below(100));
  for (channel_position& at : made.furthest) {
    if (below(4) != 0) at = {epoch + static_cast<std::uint32_t>(below(12)), 1 + below(50), below(1000)};
  }
  return made;
}

/// How many operations a channel has come further than `epoch`; never used: none.
std::uint32_t steps(channel_position const& at, std::uint32_t epoch) { return at.base == 0 ? 0 : at.epoch - epoch + 1; }

std::string fault_of(record const& got, std::vector<record> const& all, std::uint32_t epoch) {
  auto const order = [](record const& r) { return std::pair(r.nearest.at, r.nearest.round); };
  auto const nearest = std::ranges::min_element(all, {}, order), farthest = std::ranges::max_element(all, {}, order);
  auto const unwell = std::ranges::min_element(all, {}, &record::unwell);
  auto const one_wish = [&](record const& r) { return r.wishes.least == all[0].wishes.least; };
  auto const one_kind = [&](record const& r) { return r.threads.kind.least == all[0].threads.kind.least; };
  if (got.nearest.process != nearest->nearest.process || got.nearest.at != nearest->nearest.at) return "the nearest";
  if (got.farthest.process != farthest->nearest.process || got.farthest.at != farthest->nearest.at)
    return "the farthest, process " + std::to_string(got.farthest.process);
  if (got.unwell != unwell->unwell) return "unwell " + std::to_string(got.unwell);
  if (got.unwell != nobody && (got.why != unwell->why || got.reason != unwell->reason)) return got.reason.data();
  if (got.failed != std::ranges::any_of(all, &record::failed)) return "failed";
  if (got.wishes.is_one() != std::ranges::all_of(all, one_wish)) return "wishes";
  if (got.threads.kind.is_one() != std::ranges::all_of(all, one_kind)) return "the kind of threads";
  if (got.latest_round != std::ranges::max(all, {}, &record::latest_round).latest_round) return "the latest round";
  for (std::size_t c = 0; c < got.furthest.size(); ++c) {
    auto const way = [&](record const& r) { return steps(r.furthest[c], epoch); };
    auto const base = [&](record const& r) { return r.furthest[c].base; };
    auto const capacity = [&](record const& r) { return r.furthest[c].capacity; };
    bool const right = way(got) == way(std::ranges::max(all, {}, way)) &&
                       base(got) == base(std::ranges::max(all, {}, base)) &&
                       capacity(got) == capacity(std::ranges::max(all, {}, capacity));
    if (!right) return "channel " + std::to_string(c);
  }
  return "";
}

/// Two that are anywhere in the list become one, until one is left.
record combined(std::vector<record> all, std::mt19937_64& choices) {
  while (all.size() > 1) {
    std::shuffle(all.begin(), all.end(), choices);
    record const last = all.back();
    all.pop_back();
    all.back() = mpi::together(all.back(), last);
  }
  return all[0];
}

TEST(Agreement, IsTheSameInAnyOrderAndBracketing) {
  std::mt19937_64 choices(test::seed());
  for (int repetition = 0; repetition < test::by_effort(1000, 3000, 30'000); ++repetition) {
    std::uint32_t const epoch = any_epoch[repetition % 3];
    std::vector<record> all;
    for (int p = 0; p < 1 + repetition % 9; ++p) all.push_back(brought_by(p, choices, epoch));
    ASSERT_EQ(fault_of(combined(all, choices), all, epoch), "") << repetition;
  }
}

TEST(Agreement, OfProcessesIsWhatTheyHaveBrought) {
  std::mt19937_64 choices(1);
  auto const own = communicator::duplicate_of(MPI_COMM_WORLD);
  mpi::agreement agreed;
  mpi::exchange<record> room{record(occasion::constructing), record(occasion::constructing)};
  for (int repetition = 0; repetition < 30; ++repetition) {
    std::vector<record> all;
    for (int p = 0; p < processes(); ++p) all.push_back(brought_by(p, choices, 1));
    for (record& r : all) r.nearest = r.farthest = {occasion::prepared, 1, r.nearest.process};
    record const everywhere = agreed.reach(own, room, all[static_cast<std::size_t>(process())], {}, {});
    ASSERT_EQ(said_anywhere(fault_of(everywhere, all, 1)), "");
  }
}

TEST(Agreement, OnDifferentOccasionsNamesWhoIsNearestAndFarthest) {
  if (processes() < 2) GTEST_SKIP() << "nobody is elsewhere";
  auto const own = communicator::duplicate_of(MPI_COMM_WORLD);
  mpi::agreement agreed;
  mpi::exchange<record> room{record(occasion::constructing), record(occasion::constructing)};
  for (int odd = 0; odd < processes(); ++odd) {
    record const mine(process() == odd ? occasion::destroying : occasion::beginning);
    std::string const expected = "process " + std::to_string(odd) + " has destroyed its team while process " +
                                 std::to_string(odd == 0 ? 1 : 0) + " begins a run";
    auto const thrown = outcome_of([&] { agreed.reach(own, room, mine, {}, {}); });
    EXPECT_EQ(said_anywhere(thrown.message == expected ? "" : "threw '" + thrown.message + "'"), "");
  }
}

}  // namespace
}  // namespace coset::mpi_test
