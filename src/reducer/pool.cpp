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
    auto const at = free_.find({bytes, node});
    if (at == free_.end() || at->second.empty()) return {};
    numa::memory found = std::move(at->second.back());
    at->second.pop_back();
    kept_ -= bytes;
    return found;
  }

  void put(numa::memory given, std::optional<unsigned> node) {
    std::size_t const bytes = given.size();
    key const like{bytes, node};
    std::vector<std::vector<numa::memory>> dead;  // unmapped after the lock
    auto const lock = short_lock(mutex_);
    if (bytes > most_kept_bytes - kept_) give_up_others(like, dead);
    if (bytes > most_kept_bytes - kept_) return;
    free_[like].push_back(std::move(given));
    kept_ += bytes;
  }

 private:
  using key = std::pair<std::size_t, std::optional<unsigned>>;

  /// Sizes that nobody may ever want again, as of arrays that have grown.
  void give_up_others(key const& but, std::vector<std::vector<numa::memory>>& dead) {
    for (auto at = free_.begin(); at != free_.end();) {
      if (at->first == but) {
        ++at;
        continue;
      }
      std::size_t const bytes = at->first.first * at->second.size();
      dead.push_back(std::move(at->second));  // may throw, and has taken nothing then
      kept_ -= bytes;
      at = free_.erase(at);
    }
  }

  std::mutex mutex_;
  std::map<key, std::vector<numa::memory>> free_;
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

}  // namespace coset::reducer_room
