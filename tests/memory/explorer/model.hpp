// SPDX-License-Identifier: Apache-2.0
// C++'s memory model as a machine: what each atomic operation of a few threads may read.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace coset::memory_test {

inline constexpr std::size_t most_threads = 4;
using thread_number = std::size_t;

/// How much a thread, or a message, knows: of each atomic object the oldest value that may still be read, and of each
/// thread how far it has come. Joined, they know what either does.
struct view {
  std::vector<std::uint32_t> oldest;                   ///< [object]
  std::array<std::uint32_t, most_threads> happened{};  ///< [thread]: clocks of happens-before

  std::uint32_t at(std::size_t object) const { return object < oldest.size() ? oldest[object] : 0; }
  void raise(std::size_t object, std::uint32_t to);
  void join(view const&);
  void join_values(view const&);  ///< without happens-before, as fences do
};

/// Executions are made in an order that agrees with program order and with who reads from whom, so that the machine only
/// has to know what was stored so far. Loads choose among the values that coherence and happens-before allow; stores
/// are appended to their object's modification order, which is all of it where an object has one writer at a time or
/// is changed by read-modify-writes. Fences join views. Sequentially consistent operations have one order, S, with which
/// happens-before and coherence agree (C++20, [atomics.order]); it need not be the order in which they are made here, so
/// that what is known of S is kept as a partial order, and a load may read what does not contradict it. Not covered: loads
/// that read from stores behind them in program order.
class model {
 public:
  struct message {
    std::uint64_t value;
    view released;  ///< what its reader gets to know by acquiring it
  };

  /// Forgets everything; the first access of an object takes its value from memory.
  void begin();

  std::size_t object_at(void const* address, std::size_t bytes);
  /// The values that the thread may read, as a range of the object's modification order.
  std::uint32_t oldest_for(thread_number, std::size_t object, std::memory_order) const;
  void const* address_of(std::size_t object) const { return objects_[object].address; }
  std::uint64_t latest_value(std::size_t object) const { return objects_[object].written.back().value; }
  std::uint32_t latest(std::size_t object) const {
    return static_cast<std::uint32_t>(objects_[object].written.size() - 1);
  }

  std::uint64_t load(thread_number, std::size_t object, std::uint32_t which, std::memory_order);
  void store(thread_number, std::size_t object, std::uint64_t value, std::memory_order);
  /// Reads the latest, as read-modify-writes do, and puts `change(value)` behind it.
  template <class Change>
  std::uint64_t modify(thread_number t, std::size_t object, std::memory_order order, Change change) {
    std::uint64_t const old = read_latest(t, object, order);
    append(t, object, change(old), order, true);
    return old;
  }
  void fence(thread_number, std::memory_order);
  /// As if every thread made a sequentially consistent fence where it is (membarrier).
  void fence_all();

  /// Plain accesses. Empty, or what they race with.
  std::string access(thread_number, void const* at, std::size_t bytes, bool writes);

  /// Memory that is given to somebody anew.
  void forget(void const* at, std::size_t bytes);

  /// Locks: what a thread releases, the next that locks gets to know.
  void release_to(view& lock, thread_number t) {
    lock.join(known_[t].now);
    tick(t);
  }
  void acquire_from(view const& lock, thread_number t) { known_[t].now.join(lock); }

 private:
  /// A sequentially consistent operation: which one, and the value that it has read or written.
  struct ordered {
    std::size_t which;
    std::uint32_t value;
    bool writes;
  };
  static constexpr std::size_t most_ordered = 1024;
  using set_of_ordered = std::bitset<most_ordered>;
  struct place_in_order {
    thread_number by;
    std::uint32_t clock;
    set_of_ordered before;  ///< those that come before it in S
  };
  struct modified {
    void* address;
    std::size_t bytes;
    std::vector<message> written;   ///< in modification order
    std::vector<ordered> in_order;  ///< sequentially consistent operations of it
  };
  struct knowledge {
    view now, by_acquire_fence, at_release_fence;
  };
  /// The latest accesses of eight bytes of memory.
  struct shadow {
    thread_number writer = 0;
    std::uint32_t written = 0;  ///< the writer's clock; 0: never
    std::uint8_t written_bytes = 0;
    std::array<std::uint32_t, most_threads> read{};
    std::array<std::uint8_t, most_threads> read_bytes{};
  };

  set_of_ordered ordered_before(thread_number) const;
  void take_place_in_order(thread_number, std::size_t object, std::uint32_t value, bool writes);
  std::uint64_t read_latest(thread_number, std::size_t object, std::memory_order);
  void take_in(thread_number, std::size_t object, std::uint32_t which, std::memory_order);
  void append(thread_number, std::size_t object, std::uint64_t value, std::memory_order, bool modifies);
  void tick(thread_number t) { ++known_[t].now.happened[t]; }

  std::vector<modified> objects_;
  std::unordered_map<void const*, std::size_t> numbers_;
  std::array<knowledge, most_threads> known_;
  view of_fences_;
  std::vector<place_in_order> order_;
  std::unordered_map<std::uintptr_t, shadow> plain_;
};

}  // namespace coset::memory_test
