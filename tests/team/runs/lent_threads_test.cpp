// SPDX-License-Identifier: Apache-2.0
// Threads that a larger team borrows: they come and go without waiting, and nobody is inside while it is closed.
#include "team/threads/lent_threads.hpp"

#include <atomic>
#include <optional>
#include <thread>

#include "effort.hpp"
#include "support/teams.hpp"
#include "team/domain_team.hpp"
#include "team/threads/adopted_threads.hpp"

namespace coset::team_test {
namespace {

/// A larger team whose threads are all of this process.
class larger {
 public:
  explicit larger(rank_t ranks)
      : threads_(team::adopt(ranks)), all_(lend(threads_->state()), {.total = ranks}, ranks, 0, {}) {
    all_.lend_threads([this](rank_t) { ++failures_told; });
    begin();
  }

  void begin() { all_.begin(++round_, all_.furthest()); }
  member_guard join(rank_t thread) { return member_guard(lent().join(thread)); }
  team_room::lent_threads& lent() { return *all_.state().membership.lent; }
  void leave_for_good() { all_.leave_for_good(); }

  template <class Body>
  void on_each(Body body) {
    std::vector<std::thread> all;
    for (rank_t t = 0; t < threads_->size(); ++t) all.emplace_back([&, t] { body(t); });
    for (std::thread& one : all) one.join();
  }

  std::atomic<int> failures_told = 0;

 private:
  static detail::team_state& lend(detail::team_state& of) {
    of.membership.adopted->lend();
    return of;
  }

  std::unique_ptr<team> const threads_;
  team_room::domain_team all_;
  std::uint32_t round_ = 0;
};

bool sums_are_right(member& me) {
  std::vector<std::int64_t> in(500, me.rank() + 1), out(500);
  allreduce(me, in, out);
  std::int64_t const ranks = me.size();
  return std::ranges::count(out, ranks * (ranks + 1) / 2) == 500;
}

TEST(LentThreads, ComeAndGoWithoutWaiting) {
  larger all(3);
  std::atomic<int> wrong = 0;
  all.on_each([&](rank_t t) {
    for (int k = 0; k < test::by_effort(50, 300, 3000); ++k) wrong += !sums_are_right(*all.join(t));
  });
  EXPECT_EQ(wrong, 0);
  {
    auto const alone = all.join(1);  // nobody else is there
  }
  EXPECT_EQ(all.failures_told, 0);
}

TEST(LentThreads, AreNotInsideWhileItIsClosed) {
  larger all(1);
  std::atomic<bool> closed = false, over = false;
  std::atomic<int> met = 0, closings = 0;
  std::thread closer([&] {
    while (!over) {
      std::this_thread::yield();
      if (!all.lent().close()) continue;
      closed = true;
      std::this_thread::yield();  // long enough for others to come
      closed = false;
      all.lent().open();
      ++closings;
    }
  });
  while (closings < test::by_effort(50, 500, 5000)) {
    {
      auto const inside = all.join(0);
      met += closed;
      std::this_thread::yield();
      met += closed;
    }
    std::this_thread::yield();  // outside, too, for there may be one processor only
  }
  over = true;
  closer.join();
  EXPECT_EQ(met, 0);
  EXPECT_TRUE(all.lent().close()) << "all have left";
  EXPECT_FALSE(all.lent().close()) << "closed already";
}

TEST(LentThreads, AreKeptOutAfterAFailureUntilTheNextRound) {
  larger all(3);
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<std::string> type(3);
    all.failures_told = 0;
    all.on_each([&](rank_t t) {
      type[t] = outcome_of([&] {
                  auto me = all.join(t);
                  barrier(*me);
                  if (t == 1) throw std::range_error("out");
                  barrier(*me);
                }).type;
    });
    EXPECT_EQ(type, (std::vector{type_name<aborted>(), type_name<std::range_error>(), type_name<aborted>()}));
    EXPECT_EQ(all.failures_told, 3);
    EXPECT_THROW((void)all.join(0), aborted);
    all.begin();
    all.on_each([&](rank_t t) { EXPECT_TRUE(sums_are_right(*all.join(t))); });
  }
}

TEST(LentThreads, ThatWillNotComeBackAreNotAwaited) {
  larger all(2);
  all.leave_for_good();
  auto me = all.join(0);
  EXPECT_THROW(barrier(*me), mismatch_error);
}

/// Members of parts outlive their threads' stay, but not the round.
TEST(LentThreads, KeepTheirPartsUntilTheRoundEnds) {
  larger all(4);
  std::vector<std::optional<member>> parts(4);
  all.on_each([&](rank_t t) { parts[t].emplace(all.join(t)->split(static_cast<int>(t % 2))); });
  for (int turn = 0; turn < 3; ++turn) {
    all.on_each([&](rank_t t) {
      auto const me = all.join(t);
      EXPECT_EQ(parts[t]->size(), 2u);
      EXPECT_TRUE(sums_are_right(*parts[t]));
    });
  }
  all.begin();
  all.on_each([&](rank_t t) {
    auto me = all.join(t);
    EXPECT_THROW(barrier(*parts[t]), argument_error);
    parts[t].reset();
    EXPECT_TRUE(sums_are_right(*me));
  });
}

/// An operation that its thread leaves under way is given up for all.
TEST(LentThreads, DoNotLeaveRequestsBehind) {
  larger all(2);
  std::vector<float> const in(1000, 1);
  std::vector<float> out(1000);
  {
    auto me = all.join(0);
    auto const request = start_allreduce(*me, std::span<float const>(in), std::span<float>(out));
  }
  EXPECT_THROW((void)all.join(1), aborted);
  all.begin();
  all.on_each([&](rank_t t) { EXPECT_TRUE(sums_are_right(*all.join(t))); });
}

TEST(LentThreads, AreOneAtATime) {
  larger all(2);
  auto const me = all.join(1);
  EXPECT_THROW((void)all.join(1), argument_error);
  EXPECT_THROW((void)all.join(2), argument_error);
  EXPECT_FALSE(all.lent().close());
}

}  // namespace
}  // namespace coset::team_test
