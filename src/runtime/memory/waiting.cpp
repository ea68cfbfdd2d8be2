// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/waiting.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <ctime>
#include <limits>

#include "base/text/log.hpp"

namespace coset::runtime {
namespace {

bool register_membarrier() noexcept {
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0) return true;
  if (text::plans_are_logged()) std::fprintf(stderr, "coset: %s\n", without_membarrier);
  return false;
}

std::uint32_t const* half_address(std::atomic<std::uint64_t> const& word, half which) noexcept {
  static_assert(std::endian::native == std::endian::little);
  return reinterpret_cast<std::uint32_t const*>(&word) + (which == half::high ? 1 : 0);
}

std::uint32_t half_value(std::uint64_t value, half which) noexcept {
  return static_cast<std::uint32_t>(which == half::high ? value >> 32 : value);
}

/// The least of some samples: whatever else the processor did only adds.
double measured_nanoseconds_per_look() noexcept {
  using clock = std::chrono::steady_clock;
  constexpr int samples = 5, looks = 64;
  std::atomic<std::uint64_t> const word = 0;
  double least = std::numeric_limits<double>::max();
  for (int sample = 0; sample < samples; ++sample) {
    auto const begin = clock::now();
    for (int look = 0; look < looks && word.load(std::memory_order_acquire) == 0; ++look) pause();
    least = std::min(least, std::chrono::duration<double, std::nano>(clock::now() - begin).count() / looks);
  }
  return std::max(least, 0.1);
}

}  // namespace

std::uint32_t looks_in(std::chrono::nanoseconds time) noexcept {
  // Without a guard, on which a forked child would wait for a thread that it has not. Who comes at the same time measures, too.
  static constinit std::atomic<double> measured = 0;
  double each = measured.load(std::memory_order_relaxed);
  if (each == 0) measured.store(each = measured_nanoseconds_per_look(), std::memory_order_relaxed);
  return static_cast<std::uint32_t>(std::clamp(static_cast<double>(time.count()) / each, 1.0, 1e6));
}

/// Ranks that outnumber processors yield at once: the awaited rank is likely to need the processor. 8 bytes on 4 and 16
/// ranks of 2 cores take 2.4 and 16 µs, where a spin of 1 µs before each of 20 yields took 3 and 40. Sleeping is
/// expensive there: each rank sleeps, and is woken, for every rank that has not come. Unpinned ranks spin as long as
/// pinned ones, until they find that they share a processor: if all yielded after the short spin, the two ranks of a
/// team stayed on one processor in 7 of 100 sessions instead of none. Ranks that share one hand over in 3 µs instead of
/// 60 (2 unpinned ranks beside a busy process on 2 cores).
patience patience::of(waiting w, bool more_ranks_than_processors) noexcept {
  // A few flights of a cache line between the farthest cores, which take 0.1 to 0.4 µs.
  constexpr std::chrono::nanoseconds short_spin = std::chrono::microseconds(1);
  constexpr std::uint32_t few_yields = 20, yields_of_crowds = 200, forever = std::numeric_limits<std::uint32_t>::max();
  // A look at a line in one's own cache takes one or two nanoseconds on any processor.
  std::uint32_t const bare_looks = more_ranks_than_processors ? 0 : 128;
  std::uint32_t const few_looks = more_ranks_than_processors ? 1 : looks_in(short_spin);
  switch (w) {
    case waiting::spin:
      return {bare_looks, forever, forever, 0, false, {}};
    case waiting::yield:
      return {bare_looks, few_looks, few_looks, forever - few_looks, false, {}};
    case waiting::block:
      return {bare_looks, few_looks, few_looks, more_ranks_than_processors ? few_yields : 0, true};
    case waiting::automatic:
      break;
  }
  if (more_ranks_than_processors) return {bare_looks, few_looks, few_looks, yields_of_crowds, true};
  if (ranks_sleep_unyielding.load(std::memory_order_relaxed))
    return {bare_looks, few_looks, 5 * looks_in(long_spin), 0, true};
  return {bare_looks, few_looks, looks_in(long_spin), few_yields, true};
}

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // "yield" does nothing on most processors
#endif
}

bool sleepers_pay() noexcept {
  static bool const registered = register_membarrier();
  return registered;
}

void wake(std::atomic<std::uint64_t>& word, half which) noexcept {
  syscall(SYS_futex, half_address(word, which), FUTEX_WAKE, std::numeric_limits<int>::max(), nullptr, nullptr, 0);
}

void sleep(std::atomic<std::uint64_t> const& word, std::uint64_t seen, half which, std::atomic<std::uint32_t>& sleepers,
           std::chrono::nanoseconds longest) noexcept {
  // Registered before looking again: either that look sees the signal, or the signaller sees the sleeper.
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_pay()) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  if (word.load(std::memory_order_seq_cst) == seen) {
    timespec const limit{longest / std::chrono::seconds(1), (longest % std::chrono::seconds(1)).count()};
    syscall(SYS_futex, half_address(word, which), FUTEX_WAIT, half_value(seen, which), &limit, nullptr, 0);
  }
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

bool backing_off::operator()(bool moved) {
  constexpr std::uint32_t looks_per_clock = 16, looks_per_word = 4096;
  constexpr std::chrono::nanoseconds shortest_wait = std::chrono::milliseconds(1);
  looks_ = moved ? 0 : looks_ + 1;
  if (looks_ <= patience_.spins) {
    pause();
    return looks_ % looks_per_word == looks_per_word - 1;
  }
  auto const now = [] { return std::chrono::steady_clock::now(); };
  if (looks_ == patience_.spins + 1) since_ = now();
  std::this_thread::yield();
  if (looks_ % looks_per_clock != 0) return false;
  auto const waited = now() - since_;
  if (waited <= shortest_wait) return false;
  if (patience_.sleeps) std::this_thread::sleep_for(std::min(waited / 8, patience_.longest_sleep));
  return true;
}

}  // namespace coset::runtime
