// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure/onlooker.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/text/format.hpp"
#include "numa/process/fork.hpp"
#include "planning/choice/rules/settings.hpp"

namespace coset::runtime {
namespace {

using clock = std::chrono::steady_clock;

/// glibc keeps a library loaded while a thread has such a variable of the library's.
struct keeps_code_loaded {
  ~keeps_code_loaded() {}  // NOLINT(modernize-use-equals-default): a trivial one would not be called
};

class onlooker {
 public:
  explicit onlooker(choice::wait_limits const& limits) : limits_(limits) {}

  void add(overseen const& one) {
    std::lock_guard const lock(mutex_);
    all_.push_back({&one});
  }
  void remove(overseen const& one) noexcept {
    std::lock_guard const lock(mutex_);
    std::erase_if(all_, [&](watch const& each) { return each.of == &one; });
  }

  void look_on() {
    thread_local keeps_code_loaded const here [[maybe_unused]];
    auto const pause = std::max<std::chrono::nanoseconds>(shortest_limit() / 8, std::chrono::milliseconds(1));
    for (;;) {
      std::this_thread::sleep_for(pause);
      std::lock_guard const lock(mutex_);
      for (watch& each : all_) look_at(each, clock::now());
    }
  }

 private:
  struct watch {
    overseen const* of;
    std::uint64_t wait = 0;
    clock::time_point since = {};
    bool told = false;
  };

  std::chrono::nanoseconds shortest_limit() const {
    if (limits_.until_told.count() == 0) return limits_.longest;
    return limits_.longest.count() == 0 ? limits_.until_told : std::min(limits_.until_told, limits_.longest);
  }

  void look_at(watch& each, clock::time_point now) const noexcept try {
    std::uint64_t const wait = each.of->wait();
    if (wait != each.wait) {
      each.wait = wait;
      each.since = now;
    }
    if (wait == 0) return;
    auto const waited = now - each.since;
    if (limits_.longest.count() != 0 && waited >= limits_.longest) {
      text::complain(each.of->wait_in_words(waited) + "\ncoset:   COSET_TIMEOUT ends the program");
      std::abort();
    }
    if (limits_.until_told.count() == 0 || waited < limits_.until_told || std::exchange(each.told, true)) return;
    text::complain("stuck? " + each.of->wait_in_words(waited) +
                   "\ncoset:   said once per reducer: COSET_STUCK sets when, COSET_TIMEOUT ends the program");
  } catch (std::exception const&) {
    // Without memory for the words there are none.
  }

  choice::wait_limits const limits_;
  std::mutex mutex_;
  std::vector<watch> all_;
};

/// Never destroyed, as its thread outlives static variables. A forked child has no such thread, and begins anew.
std::atomic<onlooker*> of_this_process = nullptr;
onlooker* of_parent = nullptr;  ///< still reachable, for LeakSanitizer

/// Not when it is started: until glibc 2.36 who registers waits for a fork that is under way, which waits for `starting`.
[[gnu::constructor(101)]] void watch_forks() {
  pthread_atfork(nullptr, nullptr, [] { of_parent = of_this_process.exchange(nullptr); });
}

onlooker* started() {
  static constinit numa::fork_safe_mutex starting;
  std::lock_guard const lock(starting);
  if (onlooker* const there = of_this_process.load(std::memory_order_acquire)) return there;
  choice::name_wrong_settings_once();
  auto const limits = choice::wanted_wait_limits();
  if (limits.until_told.count() == 0 && limits.longest.count() == 0) return nullptr;
  auto made = std::make_unique<onlooker>(limits);
  sigset_t all, before;  // signals of the program are for its own threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([mine = made.get()] { mine->look_on(); }).detach();
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  onlooker* const found = made.release();
  of_this_process.store(found, std::memory_order_release);  // partner: the acquire loads of those who ask for it
  return found;
}

}  // namespace

void oversee(overseen const& one) noexcept try {
  onlooker* found = of_this_process.load(std::memory_order_acquire);
  if (found == nullptr) found = started();
  if (found != nullptr) found->add(one);
} catch (std::exception const&) {
}

void oversee_no_more(overseen const& one) noexcept {
  if (onlooker* const found = of_this_process.load(std::memory_order_acquire)) found->remove(one);
}

}  // namespace coset::runtime
