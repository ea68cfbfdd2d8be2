// SPDX-License-Identifier: Apache-2.0
// How ranks wait, looked at from one thread: how long each phase lasts, and what a look in vain brings.
#include "runtime/memory/waiting.hpp"

#include <gtest/gtest.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <limits>

namespace coset::runtime {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t forever = std::numeric_limits<std::uint32_t>::max();

TEST(Patience, IsWhatItsNameSays) {
  for (bool const crowded : {false, true}) {
    patience const spin = patience::of(waiting::spin, crowded), yield = patience::of(waiting::yield, crowded),
                   block = patience::of(waiting::block, crowded), automatic = patience::of(waiting::automatic, crowded);
    EXPECT_EQ(spin.spins, forever);
    EXPECT_FALSE(spin.sleeps);
    EXPECT_EQ(yield.spins + yield.yields, forever);
    EXPECT_FALSE(yield.sleeps);
    EXPECT_TRUE(block.sleeps);
    EXPECT_TRUE(automatic.sleeps);
    EXPECT_GE(automatic.spins + automatic.yields, block.spins + block.yields);
    for (patience const& p : {spin, yield, block, automatic}) EXPECT_EQ(p.bare_looks == 0, crowded);
  }
}

TEST(Patience, OfCrowdsHandsProcessorsOverAtOnce) {
  for (waiting const w : {waiting::yield, waiting::block, waiting::automatic}) {
    EXPECT_EQ(patience::of(w, true).spins, 1u);
    EXPECT_GE(patience::of(w, false).spins, patience::of(w, false).few_spins);
  }
  EXPECT_GT(patience::of(waiting::automatic, true).yields, patience::of(waiting::automatic, false).yields);
  EXPECT_GT(patience::of(waiting::block, true).yields, 0u);
}

TEST(Patience, BeneathOthersSleepsWithoutYields) {
  patience const usual = patience::of(waiting::automatic, false), of_crowds = patience::of(waiting::automatic, true);
  ranks_sleep_unyielding = true;
  patience const beneath = patience::of(waiting::automatic, false),
                 of_crowds_beneath = patience::of(waiting::automatic, true);
  ranks_sleep_unyielding = false;
  EXPECT_GT(beneath.spins, usual.spins);
  EXPECT_EQ(beneath.yields, 0u);
  EXPECT_TRUE(beneath.sleeps);
  EXPECT_EQ(of_crowds_beneath.yields, of_crowds.yields);
}

TEST(Looks, AreMoreInLongerTimesAndNeverNone) {
  EXPECT_GE(looks_in(std::chrono::nanoseconds(0)), 1u);
  EXPECT_GE(looks_in(milliseconds(1)), looks_in(std::chrono::microseconds(1)));
  EXPECT_LE(looks_in(std::chrono::hours(1)), 1'000'000u);
}

TEST(Sleepers, PayWhereTheSystemLetsThem) {
  EXPECT_EQ(sleepers_pay(), syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0);
}

TEST(Sleepers, AreCountedWhileTheySleep) {
  std::atomic<std::uint64_t> word = 0;
  std::atomic<std::uint32_t> sleepers = 0;
  std::thread sleeper([&] {
    while (word.load() == 0) sleep(word, 0, half::low, sleepers, milliseconds(100));
  });
  while (sleepers == 0) std::this_thread::yield();
  signal(word, 1, sleepers, half::low, false);
  sleeper.join();
  EXPECT_EQ(sleepers, 0u);
}

TEST(Sleepers, SleepOnlyOnWhatTheyHaveSeen) {
  std::atomic<std::uint64_t> const word = std::uint64_t{7} << 32 | 5;
  std::atomic<std::uint32_t> sleepers = 0;
  // Would last longer than any test may.
  sleep(word, 5, half::high, sleepers, std::chrono::hours(1));
  auto const begin = std::chrono::steady_clock::now();
  for (half const which : {half::low, half::high})
    for (int k = 0; k < 3; ++k) sleep(word, word.load(), which, sleepers, milliseconds(2));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(2));
}

/// A thread that only spins says so every 4096 looks.
TEST(BackingOff, SaysNowAndThenThatItTakesLong) {
  backing_off wait(patience::of(waiting::spin, false));
  for (int turn = 0; turn < 2; ++turn) {
    for (int look = 1; look < 4096; ++look) {
      // The first of all is look 1, so the first word comes one look sooner.
      bool const says = wait(false);
      EXPECT_EQ(says, look == 4095) << look;
    }
    EXPECT_FALSE(wait(false));
  }
}

TEST(BackingOff, BeginsAnewWhenSomethingHasMoved) {
  backing_off wait(patience::of(waiting::spin, false));
  for (int turn = 0; turn < 3; ++turn) {
    for (int look = 1; look < 4095; ++look) EXPECT_FALSE(wait(false));
    EXPECT_FALSE(wait(true));
  }
}

patience of_few_looks() {
  patience p;
  p.spins = 3;
  p.sleeps = true;
  return p;
}

/// Of one that yields only each sixteenth look asks for the time.
TEST(BackingOff, TakesLongFromAMillisecondOn) {
  backing_off wait(of_few_looks());
  for (int look = 1; look <= 4; ++look) EXPECT_FALSE(wait(false));
  std::this_thread::sleep_for(milliseconds(2));  // as time that passes
  for (int look = 5; look <= 48; ++look) EXPECT_EQ(wait(false), look % 16 == 0) << look;
}

TEST(BackingOff, DoesNotTakeLongAtOnce) {
  bool at_once = false;
  for (int k = 0; k < 1000 && !at_once; ++k) {  // unless other programs have the processor
    backing_off wait(of_few_looks());
    at_once = true;
    for (int look = 1; look <= 16; ++look) at_once &= !wait(false);
  }
  EXPECT_TRUE(at_once);
}

}  // namespace
}  // namespace coset::runtime
