// SPDX-License-Identifier: Apache-2.0
// Threads that come to a combination, and those that do not: without OpenMP, so that sanitizers see all of it.
#include <gmock/gmock.h>

#include <barrier>
#include <thread>

#include "reducer/updates.hpp"

namespace coset::reducer_test {
namespace {

using detail::arriving;

std::shared_ptr<detail::reducer_core> made() { return detail::make_reducer({detail::erased(10, plus{}, 0.0)}); }

std::string refusal(auto const& call) {
  try {
    call();
  } catch (mismatch_error const& e) {
    return e.what();
  }
  return "";
}

/// Red if two threads are the last of a round, or none, or if the last does not see what the others have done.
TEST(Arrivals, HaveOneLastOfEachRoundThatSeesWhatAllHaveDone) {
  constexpr std::uint32_t threads = 3;
  for (bool const waits : {true, false}) {
    auto const core = made();
    std::vector<int> done(threads);
    std::atomic<int> last = 0, wrong = 0;
    std::barrier<> meeting(threads);
    std::vector<std::thread> all;
    for (std::uint32_t t = 0; t < threads; ++t) {
      all.emplace_back([&, t] {
        for (int round = 1; round <= 200; ++round) {
          done[t] = round;
          auto const how = waits                                              ? arriving::waits
                           : t == static_cast<std::uint32_t>(round) % threads ? arriving::passes_first
                                                                              : arriving::passes;
          auto const mine = detail::arrive(*core, threads, how);
          if (mine.last) {
            ++last;
            if (done != std::vector<int>(threads, round)) ++wrong;
          }
          meeting.arrive_and_wait();
          detail::require_complete(*core, mine);
        }
      });
    }
    for (std::thread& t : all) t.join();
    EXPECT_EQ(last, 200);
    EXPECT_EQ(wrong, 0);
    detail::require_no_arrivals(*core);
  }
}

/// Every way of coming after every other one that has not been completed.
TEST(Arrivals, OfAnotherCallOrRegionAreRefusedAndChangeNothing) {
  struct {
    arriving first, second;
    bool agree;
  } const cases[] = {
      {arriving::waits, arriving::waits, true},
      {arriving::waits, arriving::meets, false},
      {arriving::waits, arriving::passes_first, false},
      {arriving::waits, arriving::passes, false},
      {arriving::meets, arriving::waits, false},
      {arriving::meets, arriving::meets, true},
      {arriving::meets, arriving::passes_first, true},  // both do not occur in one region
      {arriving::meets, arriving::passes, true},
      {arriving::passes_first, arriving::waits, false},
      {arriving::passes_first, arriving::meets, false},
      {arriving::passes_first, arriving::passes_first, false},
      {arriving::passes_first, arriving::passes, true},
      {arriving::passes, arriving::passes_first, true},  // counted in another order than OpenMP has chosen
  };
  for (auto const& each : cases) {
    auto const core = made();
    EXPECT_FALSE(detail::arrive(*core, 2, each.first).last);
    std::string const text = refusal([&] { EXPECT_TRUE(detail::arrive(*core, 2, each.second).last); });
    EXPECT_EQ(text.empty(), each.agree) << int(each.first) << int(each.second) << text;
    if (each.agree) {
      detail::require_no_arrivals(*core);
      continue;
    }
    EXPECT_THAT(text, testing::StartsWith(each.first == arriving::waits ? "1 of 2 threads has called combine() on a "
                                                                          "reducer of 10 double, coset::plus"
                                                                        : "1 of 2 threads has called combine(nowait)"));
    for (arriving const later : {each.first, each.second}) {
      EXPECT_THAT(refusal([&] { (void)detail::arrive(*core, 2, later); }), testing::StartsWith(text.substr(0, 50)))
          << "until it is reset";
    }
    detail::reset(*core);
  }
}

TEST(Arrivals, ThatLackOthersAreFoundOutsideTheRegionAndBehindItsBarriers) {
  for (arriving const how : {arriving::waits, arriving::meets, arriving::passes_first}) {
    auto const core = made();
    auto const first = detail::arrive(*core, 3, how);
    auto const second = detail::arrive(*core, 3, how == arriving::passes_first ? arriving::passes : how);
    EXPECT_THAT(refusal([&] { detail::require_complete(*core, first); }), testing::HasSubstr("2 of 3 threads have"));
    EXPECT_THAT(refusal([&] { detail::require_complete(*core, second); }), testing::HasSubstr("another barrier"));
    EXPECT_THAT(refusal([&] { detail::require_no_arrivals(*core); }), testing::HasSubstr("2 of 3 threads have"));
    detail::reset(*core);
    detail::require_complete(*core, first);
    detail::require_no_arrivals(*core);
    EXPECT_TRUE(detail::arrive(*core, 1, how).last);
  }
}

/// The message is of the region that is over, not of the one that finds it.
TEST(Arrivals, NameTheirOwnRegionsThreads) {
  auto const core = made();
  (void)detail::arrive(*core, 4, arriving::passes_first);
  EXPECT_THAT(refusal([&] { (void)detail::arrive(*core, 2, arriving::passes_first); }),
              testing::StartsWith("1 of 4 threads has called combine(nowait)"));
  detail::reset(*core);
}

/// As one thread's fold empties copies that the other's has begun to read.
TEST(Reducer, CombinedByTwoThreadsAtOnceIsAnError) {
  std::atomic<bool> inside = false, goes_on = false;
  auto const slow_sum = [&](int a, int b) {
    inside = true;
    while (!goes_on) std::this_thread::yield();
    return a + b;
  };
  reducer<int, decltype(slow_sum)> sum(10, slow_sum, 0);
  sum.local()[3] = 5;
  std::vector<int> got(10), others(10);
  std::thread first([&] { sum.combine_into(got); });
  while (!inside) std::this_thread::yield();
  EXPECT_THROW(sum.combine_into(others), argument_error);
  goes_on = true;
  first.join();
  EXPECT_EQ(got[3], 5);
  EXPECT_EQ(others[3], 0);
  sum.combine_into(others);
}

}  // namespace
}  // namespace coset::reducer_test
