// SPDX-License-Identifier: Apache-2.0
// The executor at the worst moments, which threads meet once in a million runs: one thread carries the ranks, and the test
// says who goes on when. Each test says which change to the library turns it red.
#include <numeric>
#include <optional>
#include <thread>

#include "coset/detail/task_run.hpp"
#include "planning/plan/bound_plan.hpp"
#include "planning/program/program.hpp"
#include "support/tasks.hpp"
#include "team/team_state.hpp"
#include "variable.hpp"

namespace coset::team_test {
namespace {

/// One operation of every rank, each carried on as far as it can get whenever the test says so.
class carried {
 public:
  carried(team& ranks, std::function<request(member&)> start)
      : start_(std::move(start)), requests_(ranks.size()), state_(ranks.size(), stage::absent), run_(ranks) {}

  /// Whether the rank is done.
  bool go_on(rank_t rank) {
    if (state_[rank] == stage::done) return true;
    bool const begins = state_[rank] == stage::absent;
    bool const done = begins ? run_.start(rank, &carried::begin, this) : run_.go_on(rank);
    state_[rank] = done ? stage::done : stage::under_way;
    return done;
  }

  bool all_done() const { return std::ranges::count(state_, stage::done) == std::ssize(state_); }

  /// Throws what the run throws.
  void end() {
    requests_.clear();
    run_.end();
  }

 private:
  enum class stage : std::uint8_t { absent, under_way, done };

  static void begin(void* self, member& me) {
    auto& mine = *static_cast<carried*>(self);
    mine.requests_[me.rank()] = mine.start_(me);
  }

  std::function<request(member&)> start_;
  std::vector<request> requests_;
  std::vector<stage> state_;
  detail::task_run run_;
};

/// Who comes next, of so many ranks.
using turn = std::function<rank_t(std::size_t)>;

/// Carries the ranks in these turns until all are done; false if they do not get there.
bool carry(carried& all, turn const& next) {
  for (std::size_t k = 0; k < 100'000 && !all.all_done(); ++k) (void)all.go_on(next(k));
  return all.all_done();
}

constexpr std::size_t line = 64 / sizeof(int);

/// A collective in segments of one cache line, each an operation of its own on the same channel.
struct segmented {
  task what;
  detail::plan_pair plans;
  std::vector<arrays<int>> of;
  std::vector<int> shared;

  segmented(team& ranks, task const& t, std::string const& algorithm, std::string const& storage) : what(t) {
    plans = detail::make_plans(
        ranks.state(), t.what, t.total(), detail::table_of<int, plus>(),
        {.algorithm = algorithm, .storage = storage, .root = t.root, .segment_bytes = line * sizeof(int)});
    for (rank_t r = 0; r < ranks.size(); ++r) of.push_back(prepared<int>(t, r));
  }

  request start(member& me) {
    auto const s = spans_of<int>(what, me.rank(), of[me.rank()], shared);
    return detail::start(me.state(), plans, {s.in.data(), s.in.size(), s.out.data(), s.out.size()}, nullptr);
  }

  std::string fault() {
    for (rank_t r = 0; r < of.size(); ++r)
      if (auto wrong = fault_of<int>(what, r, of[r], shared, {}); !wrong.empty()) return wrong;
    return {};
  }
};

task segments_of(verb what, rank_t ranks, std::size_t segments, rank_t root = 0) {
  task t{.what = what, .counts = std::vector<std::size_t>(ranks), .root = root};
  bool const of_pieces = what == verb::reduce_scatter || what == verb::allgather;
  std::fill_n(t.counts.begin(), of_pieces ? ranks : 1, segments * line - 3);
  return t;
}

/// Of one rank after the other, each as far as it gets: from the first, from the last, and at random with one that comes
/// sixteen times as often as the others.
std::vector<std::pair<std::string, turn>> turns(rank_t ranks, engine& choices) {
  std::vector<std::pair<std::string, turn>> all;
  all.emplace_back("ascending", [ranks](std::size_t k) { return static_cast<rank_t>(k % ranks); });
  all.emplace_back("descending", [ranks](std::size_t k) { return static_cast<rank_t>(ranks - 1 - k % ranks); });
  for (rank_t eager = 0; eager < ranks; ++eager) {
    all.emplace_back("mostly rank " + std::to_string(eager), [ranks, eager, &choices](std::size_t) {
      return below(choices, 16) != 0 ? eager : static_cast<rank_t>(below(choices, ranks));
    });
  }
  return all;
}

/// Red if await_reuse() waits for less than its readers' entry into the operation in between: a rank that has entered,
/// and then has to wait, finds its peer's line and staging overwritten.
TEST(Executor, WritesNoParityAgainBeforeItsReadersHaveLeftIt) {
  engine choices(test::seed());
  std::size_t tried = 0;
  for (rank_t const p : {2u, 3u, 5u, 9u})
    for (verb const what : {verb::broadcast, verb::reduce, verb::scan, verb::exclusive_scan, verb::allreduce,
                            verb::reduce_scatter, verb::allgather})
      for (auto const* const algorithm : {"direct", "binomial", "recursive_doubling"})
        for (auto const* const storage : {"staged", "zero_copy"}) {
          auto const ranks = detail::make_task_team(p);
          task const t = segments_of(what, p, 7, what == verb::broadcast || what == verb::reduce ? p / 2 : 0);
          std::optional<segmented> call;
          try {
            call.emplace(*ranks, t, algorithm, storage);
          } catch (schedule_error const&) {  // not every algorithm serves every verb
            continue;
          }
          for (auto const& [order, next] : turns(p, choices)) {
            SCOPED_TRACE(std::string(algorithm) + ", " + storage + ", " + order + ", " + t.text());
            segmented fresh = *call;
            carried all(*ranks, [&](member& me) { return fresh.start(me); });
            ASSERT_TRUE(carry(all, next));
            ASSERT_NO_THROW(all.end());
            ASSERT_EQ(fresh.fault(), "");
            ++tried;
          }
        }
  EXPECT_GT(tried, 100u);
}

/// Red if settle() keeps the readers: rank 1, whose lines the last run's broadcast was read from, waits for rank 2.
TEST(Executor, OwesNothingToTheReadersOfTheLastRun) {
  auto const ranks = detail::make_task_team(3);
  segmented from_one(*ranks, segments_of(verb::broadcast, 3, 4, 1), "binomial", "staged");
  segmented from_zero(*ranks, segments_of(verb::broadcast, 3, 2, 0), "binomial", "staged");
  {
    carried all(*ranks, [&](member& me) { return from_one.start(me); });
    ASSERT_TRUE(carry(all, [](std::size_t k) { return static_cast<rank_t>(k % 3); }));
    all.end();
  }
  carried all(*ranks, [&](member& me) { return from_zero.start(me); });
  EXPECT_TRUE(all.go_on(0));
  EXPECT_TRUE(all.go_on(1));
  EXPECT_TRUE(all.go_on(2));
  all.end();
  EXPECT_EQ(from_one.fault() + from_zero.fault(), "");
}

/// Red if step_on() takes partial results, which are floats, for elements: from the second piece on, sums go astray.
TEST(Executor, StepsThroughPartialResultsByTheirOwnWidth) {
  constexpr rank_t p = 4;
  constexpr std::size_t count = 1 << 20;  // a block is several pieces of 256 KiB long
  for (auto const* const storage : {"zero_copy", "zero_copy_push", "output"}) {
    auto const ranks = detail::make_task_team(p);
    plan<float16> const sum(*ranks, verb::allreduce, count, plus{},
                            {.algorithm = "product(dims=2x2)", .storage = storage, .segment_bytes = 2 * count});
    std::vector<std::vector<float16>> in(p, std::vector<float16>(count)), out = in;
    for (rank_t r = 0; r < p; ++r)
      for (std::size_t i = 0; i < count; ++i) in[r][i] = float16(static_cast<float>((i / 7 + r * i) % 256));
    carried all(*ranks, [&](member& me) { return sum.start(me, in[me.rank()], out[me.rank()]); });
    ASSERT_TRUE(carry(all, [](std::size_t k) { return static_cast<rank_t>(k % p); }));
    all.end();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      float exact = 0;
      for (rank_t r = 0; r < p; ++r) exact += static_cast<float>(in[r][i]);
      for (rank_t r = 0; r < p; ++r) wrong += static_cast<float>(out[r][i]) != exact;
    }
    EXPECT_EQ(wrong, 0u) << storage;
  }
}

/// Red if a rank compares its arrays with those of one that may have left already, and freed them.
TEST(Executor, LetsARankHaveTheMemoryOfOneThatHasLeft) {
  auto const ranks = detail::make_task_team(2);
  std::vector<int> memory(1000, 7);
  auto const plan = detail::make_plans(ranks->state(), verb::broadcast, memory.size(), detail::copy_of<int>(),
                                       {.algorithm = "direct", .storage = "staged"});
  carried all(*ranks, [&](member& me) {
    return detail::start(me.state(), plan, {memory.data(), memory.size(), memory.data(), memory.size()}, nullptr);
  });
  EXPECT_TRUE(all.go_on(0));
  std::ranges::fill(memory, -1);
  EXPECT_TRUE(all.go_on(1));
  EXPECT_NO_THROW(all.end());
  EXPECT_EQ(std::ranges::count(memory, 7), std::ssize(memory));
}

/// Red if a segment of an allgather copies more of the rank's own input than it has, or less.
TEST(Executor, GathersPiecesInSegmentsInPlaceOrNot) {
  for (bool const in_place : {false, true})
    for (auto const* const storage : {"staged", "zero_copy", "output"}) {
      auto const ranks = detail::make_task_team(3);
      task t = segments_of(verb::allgather, 3, 5);
      t.in_place = in_place;
      segmented call(*ranks, t, "direct", storage);
      ASSERT_EQ(call.plans.apart->segments.number, 5u);
      carried all(*ranks, [&](member& me) { return call.start(me); });
      ASSERT_TRUE(carry(all, [](std::size_t k) { return static_cast<rank_t>(k % 3); }));
      all.end();
      EXPECT_EQ(call.fault(), "") << storage;
    }
}

/// Red if copy_own() copies the whole with every segment: from the second on it reads and writes beyond the arrays.
TEST(Executor, OfOneRankCopiesItsOwnOnce) {
  auto const ranks = detail::make_task_team(1);
  segmented call(*ranks, segments_of(verb::reduce, 1, 4), "direct", "staged");
  ASSERT_EQ(call.plans.apart->segments.number, 4u);
  std::size_t const count = call.what.total();
  std::vector<int> in(3 * count), out(3 * count, 99), expected = out;
  std::iota(in.begin(), in.end(), 0);
  std::copy_n(in.begin(), count, expected.begin());
  carried all(*ranks, [&](member& me) {
    return detail::start(me.state(), call.plans, {in.data(), count, out.data(), count}, nullptr);
  });
  EXPECT_TRUE(all.go_on(0));
  all.end();
  EXPECT_EQ(out, expected);
}

/// Where peers fold in this rank's arrays, whoever gives its request up may free them: red if ~request returns while rank
/// 0 is inside.
TEST(Executor, LetsARequestGoOnlyWhenNoPeerIsInItsArrays) {
  test::variable const chosen("COSET_ALLREDUCE", "direct/zero_copy");
  team ranks(options_for(2));
  std::atomic<bool> inside = false, gone = false;
  std::atomic<int> gone_too_early = 0;
  auto const all = outcomes(ranks, [&](member& me) {
    auto const sum = [&, stays = me.rank() == 0](int a, int b) {
      if (!stays || inside.exchange(true)) return a + b;
      while (!me.state().shared.failed()) std::this_thread::yield();
      for (int looks = 0; looks < 1000; ++looks) {  // time enough for rank 1 to leave if it does not wait
        std::this_thread::yield();
        gone_too_early += gone;
      }
      return a + b;
    };
    std::vector<int> in(100'000, 1), out(in.size());
    request under_way = start_allreduce(me, in, out, sum);
    if (me.rank() == 0) under_way.wait();
    while (!inside) std::this_thread::yield();
    under_way = request();
    gone = true;
    barrier(me);
  });
  expect_everybody_threw<aborted>(all, {"rank 1 gave up"});
  EXPECT_EQ(gone_too_early, 0);
  expect_works(ranks);
}

}  // namespace
}  // namespace coset::team_test
