// SPDX-License-Identifier: Apache-2.0
// Waiting for a word of another rank: spin, yield, sleep. The sleeper pays; a signal stays a plain release store.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "coset/team.hpp"
#include "planning/choice/rules/settings.hpp"

namespace coset::runtime {

/// How long each phase lasts, in failed looks.
struct patience {
  std::uint32_t bare_looks = 0;  ///< without a pause, for about the time in which a line arrives
  std::uint32_t few_spins = 0;  ///< a few transfers of a cache line: a rank that takes longer may not be running at all
  std::uint32_t spins = 0;
  std::uint32_t yields = 0;
  bool sleeps = false;
  std::chrono::nanoseconds longest_sleep = std::chrono::milliseconds(1);  ///< what a lost wake-up would cost
  choice::wait_limits limits = {};                                        ///< of all phases together

  static patience of(waiting, bool more_ranks_than_processors) noexcept;
  /// For a thread that polls while others may have work: it spins briefly, then yields the processor to them.
  static patience of_polling() noexcept { return of(waiting::block, false); }
};

/// Failed looks, each with a pause, that take so long on this processor: a pause is 4 ns on one and 40 on another.
std::uint32_t looks_in(std::chrono::nanoseconds) noexcept;

/// Longer than any transfer takes within a machine; after that, the awaited rank is doing something else.
inline constexpr std::chrono::nanoseconds long_spin = std::chrono::microseconds(40);
/// Whether ranks of teams made from now on sleep as soon as they have spun for some time, where each has a processor. For a layer
/// whose programs may share processors with others: who yields there gives away a slice of time, and who sleeps is owed one
/// when the awaited rank comes.
inline std::atomic<bool> ranks_sleep_unyielding = false;

/// The half of a word that changes with every signal: epochs in tags, counts in progress.
enum class half : std::uint8_t { low, high };

void pause() noexcept;

/// What threads of this process that wait in a collective do between two looks, too; null: nothing. For a layer above that
/// has operations of other teams under way, which nobody else would bring on. It may start and test operations, but not wait.
/// Says whether there was anything.
inline std::atomic<bool (*)() noexcept> meanwhile = nullptr;
/// Whether there is such a thing to do, which has been done then. Who waits must not sleep.
inline bool did_something_meanwhile() noexcept {
  auto* const something = meanwhile.load(std::memory_order_acquire);
  return something != nullptr && something();
}

/// Whether sleepers can order every thread's stores and loads by a system call (membarrier). If not, signals are
/// sequentially consistent exchanges instead of plain stores.
bool sleepers_pay() noexcept;
/// The warning that users get in that case.
inline constexpr char const* without_membarrier =
    "the system refuses membarrier (a seccomp filter, or an old kernel): signals are atomic exchanges, some ns dearer "
    "each";

/// Publishes all stores before it; partner: the acquire load of whoever waits on `word`. Wakes sleepers if there are
/// any. `sleepers` is read after the store: the sleeper's membarrier() is the partner that makes this order hold.
void wake(std::atomic<std::uint64_t>& word, half) noexcept;

inline void signal(std::atomic<std::uint64_t>& word, std::uint64_t value, std::atomic<std::uint32_t> const& sleepers,
                   half which, bool plain_store) noexcept {
  if (plain_store) {
    word.store(value, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake(word, which);
  } else {
    word.exchange(value, std::memory_order_seq_cst);
    if (sleepers.load(std::memory_order_seq_cst) != 0) wake(word, which);
  }
}

/// Sleeps on `word`, no longer than `longest`, unless it has changed from `seen` or a signal comes in between.
void sleep(std::atomic<std::uint64_t> const& word, std::uint64_t seen, half, std::atomic<std::uint32_t>& sleepers,
           std::chrono::nanoseconds longest) noexcept;

/// Waits until ready(value of word) holds; interrupted() is called between looks and may throw.
template <class Ready, class Interrupted>
std::uint64_t wait_until(std::atomic<std::uint64_t> const& word, half which, std::atomic<std::uint32_t>& sleepers,
                         patience const& p, Ready ready, Interrupted interrupted) {
  for (std::uint32_t looks = 0;; ++looks) {
    std::uint64_t const value = word.load(std::memory_order_acquire);
    if (ready(value)) return value;
    interrupted(looks);
    if (looks < p.spins) {
      pause();
    } else if (looks < p.spins + p.yields || !p.sleeps) {
      std::this_thread::yield();
    } else {
      sleep(word, value, which, sleepers, p.longest_sleep);
    }
  }
}

/// The pause between two rounds of looks at several words, none of which a thread could sleep on alone. A thread that
/// has looked in vain for a millisecond sleeps for an eighth of the time that it has waited: other threads get its
/// processor, and its wait gets an eighth longer at most.
class backing_off {
 public:
  explicit backing_off(patience const& p) : patience_(p) {}

  /// `moved`: whether the last round of looks brought anything on. True now and then once that takes long.
  /// A point at which a thread can be cancelled.
  bool operator()(bool moved);

 private:
  patience const patience_;
  std::uint32_t looks_ = 0;  ///< in vain
  std::chrono::steady_clock::time_point since_;
};

}  // namespace coset::runtime
