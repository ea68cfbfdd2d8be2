// SPDX-License-Identifier: Apache-2.0
// Plan objects for the members of a team over processes.
#include <memory>
#include <numeric>

#include "mpi/processes.hpp"
#include "support/verbs.hpp"

namespace coset::mpi_test {
namespace {

using namespace team_test;

constexpr std::size_t length = 3000;

/// A value that tells rank and place, and whose sums are exact.
std::int64_t value(rank_t rank, std::size_t i) { return std::int64_t{rank} * 10 + static_cast<std::int64_t>(i); }

std::vector<std::int64_t> input(rank_t rank, std::size_t count) {
  std::vector<std::int64_t> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = value(rank, i);
  return made;
}

/// Of the ranks before `ranks`.
std::vector<std::int64_t> sum(rank_t ranks, std::size_t count) {
  std::vector<std::int64_t> made(count);
  for (std::size_t i = 0; i < count; ++i)
    for (rank_t r = 0; r < ranks; ++r) made[i] += value(r, i);
  return made;
}

using plans = std::vector<std::pair<task, plan<std::int64_t>>>;

/// Of every verb, with the last rank as root where there is one.
plans plans_of_every_verb(mpi::team& on, plan_options const& options) {
  plans made;
  plan_options rooted = options;
  rooted.root = on.size() - 1;
  for (verb const what : {verb::allreduce, verb::reduce, verb::reduce_scatter, verb::allgather, verb::broadcast,
                          verb::scan, verb::exclusive_scan}) {
    task const t{.what = what, .counts = even_counts(on.size(), length), .even = true, .root = rooted.root};
    made.emplace_back(t, make_plan<std::int64_t>(on, what, t.total(), plus{}, rooted));
  }
  return made;
}

/// Executes and starts each plan.
std::string fault_of(member& me, plans const& all) {
  for (auto const& [t, made] : all) {
    for (bool const starts : {false, true, false}) {
      auto mine = prepared<std::int64_t>(t, me.rank());
      auto const s = spans_of<std::int64_t>(t, me.rank(), mine, {});
      if (t.what == verb::broadcast) {
        made.execute(me, s.in);
      } else if (starts) {
        made.start(me, s.in, s.out).wait();
      } else {
        made.execute(me, s.in, s.out);
      }
      std::string const wrong = team_test::fault_of<std::int64_t>(t, me.rank(), mine, {}, {});
      if (!wrong.empty()) return wrong + " by " + made.describe();
    }
  }
  return "";
}

TEST(PlanObjects, OfEveryVerbServeManyTimes) {
  for (std::uint64_t seed : {1u, 2u}) {
    hybrid on(seed);
    auto const all = plans_of_every_verb(on.all, {});
    for (int round = 0; round < 2; ++round) {
      on.expect_no_faults([&](member& me) { return fault_of(me, all); });
      on.expect_works();
    }
  }
}

TEST(PlanObjects, ThreadsThatJoinExecuteThem) {
  auto const threads = team::adopt(1);
  mpi::team on(MPI_COMM_WORLD, *threads);
  auto const all = plans_of_every_verb(on, {});
  for (int region = 0; region < 3; ++region) {
    auto me = on.join(0);
    EXPECT_EQ(said_anywhere(fault_of(*me, all)), "");
  }
}

TEST(PlanObjects, NamedAlgorithmsAndStoragesAreTaken) {
  hybrid on(3);
  for (std::string const text : {"direct/staged", "ring/staged/8K", "generalized(radix=2)/staged"}) {
    auto const made = make_plan<std::int64_t>(on.all, length, plus{}, plan_named(text));
    EXPECT_EQ(made.describe().find(text.substr(0, text.find('/'))), 0u) << made.describe();
    on.expect_no_faults([&](member& me) -> std::string {
      auto own = input(me.rank(), length);
      made.execute(me, own);
      return own == sum(me.size(), length) ? "" : text + " is wrong";
    });
  }
}

/// Longer than what ranks can stage at once: whole vectors go in segments, pieces one after the other.
TEST(PlanObjects, OfAnyLength) {
  hybrid on(4, {.staging_bytes = 16 * 1024});
  on.expect_no_faults([&](member& me) { return fault_of(me, plans_of_every_verb(on.all, {})); });
}

TEST(PlanObjects, PiecesInPlaceOfUnequalLength) {
  hybrid on(5, {.staging_bytes = 16 * 1024});
  rank_t const size = on.all.size();
  for (std::size_t const most : {std::size_t{10}, length}) {
    std::vector<std::size_t> counts(size);
    for (rank_t r = 0; r < size; ++r) counts[r] = most * (1 + r % 3);
    auto const total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    auto const scatter = make_plan<std::int64_t>(on.all, verb::reduce_scatter, total, plus{}, {.counts = counts});
    auto const gather = make_plan<std::int64_t>(on.all, verb::allgather, total, plus{}, {.counts = counts});
    on.expect_no_faults([&](member& me) -> std::string {
      auto whole = input(me.rank(), total);
      scatter.execute(me, whole);
      gather.execute(me, whole);
      return whole == sum(size, total) ? "" : "by " + scatter.describe() + " and " + gather.describe() + " is wrong";
    });
  }
}

/// Each process makes what it executes, whenever it likes, in any order.
TEST(PlanObjects, NothingIsSentToMakeThem) {
  hybrid on(6);
  std::unique_ptr<plan<std::int64_t>> first, second;
  auto const make = [&](auto& made, char const* algorithm) {
    made = std::make_unique<plan<std::int64_t>>(on.all, verb::allreduce, length, plus{}, plan_named(algorithm));
  };
  if (process() == 0) make(first, "ring");
  on.expect_works();
  make(second, "direct");
  if (process() != 0) make(first, "ring");
  on.expect_no_faults([&](member& me) -> std::string {
    auto a = input(me.rank(), length), b = a;
    second->execute(me, a);
    first->execute(me, b);
    return a == sum(me.size(), length) && a == b ? "" : "a sum is wrong";
  });
}

/// As MPI's persistent collectives would hang, or worse.
TEST(PlanObjects, ProcessesThatChoseDifferentlyLearnOfItInTheFirstCall) {
  if (processes() == 1) GTEST_SKIP() << "nobody to disagree with";
  hybrid on(7);
  plan<std::int64_t> const made(on.all, verb::allreduce, length, plus{},
                                plan_named(process() == 0 ? "ring/staged" : "direct/staged"));
  std::vector<outcome> all(on.all.threads());
  (void)on.faults([&](member& me) -> std::string {
    auto own = input(me.rank(), length);
    all[me.rank() - on.all.first()] = outcome_of([&] {
      made.execute(me, own);
      barrier(me);
    });
    return "";
  });
  std::string wrong;
  for (auto const& one : all) {
    if (one.type != type_name<mismatch_error>() || one.message.find("plan") == std::string::npos)
      wrong = "threw '" + one.type + "' '" + one.message + "'";
  }
  EXPECT_EQ(said_anywhere(wrong), "");
  on.expect_works();
}

TEST(PlanObjects, OfThisTeamAloneAndOfWhatItHas) {
  hybrid on(8);
  EXPECT_THROW((void)make_plan<int>(on.all, 10, plus{}, {.algorithm = "magic"}), schedule_error);
  EXPECT_THROW((void)make_plan<int>(on.all, verb::reduce, 10, plus{}, {.root = on.all.size()}), argument_error);
  if (processes() == 1) return;
  auto const shared = make_plan<int>(on.all, verb::reduce_shared, 10);
  std::vector<int> sum(10);  // one in each process
  on.expect_no_faults([&](member& me) -> std::string {
    shared.execute(me, std::vector<int>(10, 1), sum);
    return sum[9] == static_cast<int>(me.size()) ? "" : "a shared sum is wrong";
  });
  auto const made = make_plan<int>(on.all, 10);
  EXPECT_THROW(on.threads.run([&](member& me) {
    std::vector<int> own(10, 1);
    made.execute(me, own);
  }),
               argument_error);
  hybrid longest(8, {.staging_bytes = 16 * 1024});
  EXPECT_NO_THROW((void)make_plan<int>(longest.all, verb::allgather, 100'000 * longest.all.size()));
  if (longest.all.describe().find("within hosts") == std::string::npos) return;
  plan_options uneven{.algorithm = "ring", .counts = std::vector<std::size_t>(longest.all.size(), 100'000)};
  ++uneven.counts.back();
  std::size_t const count = 100'000 * longest.all.size() + 1;
  EXPECT_THROW((void)make_plan<int>(longest.all, verb::allgather, count, plus{}, uneven), argument_error);
}

}  // namespace
}  // namespace coset::mpi_test
