// SPDX-License-Identifier: Apache-2.0
// What fork() leaves to a child: its parent's memory, and one of its threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace coset::numa {

namespace of_process {
/// Written only where a child begins, by its one thread.
[[gnu::visibility("hidden")]] extern std::uint32_t number;
}  // namespace of_process

/// 1, and one more in each forked child: what was made under another number belongs to the parent. No system call.
inline std::uint32_t process_number() noexcept { return of_process::number; }
/// The same, after asking the system: hears of children that clone() and _Fork() have made, where no handlers run.
std::uint32_t process_number_by_the_system() noexcept;

/// While one exists no thread of this process forks: a child would find half of what its thread is doing, and nobody to end
/// it. Not while waiting for a thread that needs one, too. May be nested.
class [[nodiscard]] fork_waits {
 public:
  fork_waits() noexcept { begin(); }
  ~fork_waits() { end(); }
  fork_waits(fork_waits const&) = delete;
  fork_waits& operator=(fork_waits const&) = delete;

  static void begin() noexcept;
  static void end() noexcept;
};

/// A mutex that a forked child finds free, with what it guards complete.
class fork_safe_mutex {
 public:
  void lock() {
    fork_waits::begin();
    mutex_.lock();
  }
  bool try_lock() {
    fork_waits::begin();
    if (mutex_.try_lock()) return true;
    fork_waits::end();
    return false;
  }
  void unlock() {
    mutex_.unlock();
    fork_waits::end();
  }

 private:
  std::mutex mutex_;
};

/// Pages that processes share: where they are a forked child finds zeros of its own, whatever it may write there.
void keep_from_children(std::byte* begin, std::size_t bytes);
void keep_no_more(std::byte* begin) noexcept;

}  // namespace coset::numa
