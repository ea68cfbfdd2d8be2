// SPDX-License-Identifier: Apache-2.0
#include "reducer/pool.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "reducer/short_lock.hpp"

namespace coset::reducer_room {
namespace {

/// Sizes come in quarters of powers of two, and whole pages: reducers of about the same size find each other's memory.
std::size_t rounded(std::size_t bytes) {
  std::size_t const step = std::max(std::bit_ceil(bytes) / 8, numa::page_bytes());
  return (bytes + step - 1) / step * step;
}

class pool {
 public:
  static pool& instance() {
    static pool& only = *new pool;  // threads may end after statics
    return only;
  }

  /// Nothing if there is none.
  numa::memory take(std::size_t bytes, std::optional<unsigned> node) {
    auto const lock = short_lock(mutex_);
    auto const at = memory_.find({bytes, node});
    if (at == memory_.end() || at->second.empty()) return {};
    numa::memory found = std::move(at->second.back());
    at->second.pop_back();
    kept_ -= bytes;
    return found;
  }

  void put(numa::memory given, std::optional<unsigned> node) {
    std::size_t const bytes = given.size();
    key const like{bytes, node};
    unwanted dead;
    auto const lock = short_lock(mutex_);
    if (bytes > most_kept_bytes - kept_) give_up_others(like, 0, dead);
    if (bytes > most_kept_bytes - kept_) return;
    memory_[like].push_back(std::move(given));
    kept_ += bytes;
  }

  copy_set take_set(std::size_t memory_bytes) noexcept {
    auto const lock = short_lock(mutex_);
    auto const at = sets_.find(memory_bytes);
    if (at == sets_.end() || at->second.empty()) return {};
    copy_set found = std::move(at->second.back());
    at->second.pop_back();
    kept_ -= found.size() * memory_bytes;
    return found;
  }

  /// False if it is not kept.
  bool put_set(copy_set& given, std::size_t memory_bytes) {
    std::size_t const bytes = given.size() * memory_bytes;
    unwanted dead;
    auto const lock = short_lock(mutex_);
    if (bytes > most_kept_bytes - kept_) give_up_others({}, memory_bytes, dead);
    if (bytes > most_kept_bytes - kept_) return false;
    sets_[memory_bytes].push_back(std::move(given));
    kept_ += bytes;
    return true;
  }

 private:
  using key = std::pair<std::size_t, std::optional<unsigned>>;
  /// Declared before the lock: unmapped after it.
  struct unwanted {
    std::vector<std::vector<numa::memory>> memory;
    std::vector<std::vector<copy_set>> sets;

    ~unwanted() {
      for (auto& of_a_size : sets)
        for (copy_set& copies : of_a_size) let_go(copies);
    }
  };

  /// Their memory does not come back here.
  static void let_go(copy_set& copies) {
    for (auto& [number, copy] : copies.numbered) copy->is_lent = false;
    for (auto& copy : copies.of_threads) copy->is_lent = false;
  }

  /// Sizes that nobody may ever want again, as of arrays that have grown.
  void give_up_others(key const& but, std::size_t but_copies, unwanted& dead) {
    for (auto at = memory_.begin(); at != memory_.end();) {
      if (at->first == but) {
        ++at;
        continue;
      }
      std::size_t const bytes = at->first.first * at->second.size();
      dead.memory.push_back(std::move(at->second));  // may throw, and has taken nothing then
      kept_ -= bytes;
      at = memory_.erase(at);
    }
    for (auto at = sets_.begin(); at != sets_.end();) {
      if (at->first == but_copies) {
        ++at;
        continue;
      }
      std::size_t bytes = 0;
      for (copy_set const& copies : at->second) bytes += copies.size() * at->first;
      dead.sets.push_back(std::move(at->second));
      kept_ -= bytes;
      at = sets_.erase(at);
    }
  }

  std::mutex mutex_;
  std::map<key, std::vector<numa::memory>> memory_;
  std::map<std::size_t, std::vector<copy_set>> sets_;  ///< by the bytes of a copy's memory
  std::size_t kept_ = 0;
};

}  // namespace

numa::memory lend(std::size_t bytes, std::optional<unsigned> on_node) {
  bytes = rounded(bytes);
  numa::memory found = pool::instance().take(bytes, on_node);
  if (found.data() != nullptr) return found;
  numa::memory made(bytes);
  if (!on_node || !made.bind(0, bytes, *on_node)) made.prefer_huge_pages(0, bytes);
  return made;
}

void take_back(numa::memory given, std::optional<unsigned> of_node) noexcept try {
  pool::instance().put(std::move(given), of_node);
} catch (std::bad_alloc const&) {
  // Then it is given up.
}

copy_set lend_copies(std::size_t bytes) noexcept { return pool::instance().take_set(rounded(bytes)); }

void take_back(copy_set&& given, std::size_t bytes) noexcept try {
  copy_set copies = std::move(given);
  if (copies.size() != 0) pool::instance().put_set(copies, rounded(bytes));
} catch (std::bad_alloc const&) {
  // Then their memory comes back alone.
}

}  // namespace coset::reducer_room
