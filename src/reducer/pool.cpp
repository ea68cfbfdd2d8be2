// SPDX-License-Identifier: Apache-2.0
#include "reducer/pool.hpp"

#include <bit>
#include <map>
#include <mutex>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

#include "reducer/short_lock.hpp"

namespace coset::reducer_room {
namespace {

/// Rounds to quarters of powers of two and whole pages, so that reducers of similar size reuse each other's copies.
std::size_t rounded(std::size_t bytes) {
  std::size_t const step = std::max(std::bit_ceil(bytes) / 8, numa::page_bytes());
  return (bytes + step - 1) / step * step;
}

class pool {
 public:
  static pool& instance() {
    // Never destroyed, as threads may end after statics; nor on the heap, see runtime::handles().
    alignas(pool) static std::byte place[sizeof(pool)];
    static pool& only = *::new (place) pool;
    return only;
  }

  /// Null if there is none.
  std::unique_ptr<owned_copy> take(std::size_t bytes, std::uint32_t number, std::optional<unsigned> node) {
    auto const lock = short_lock(mutex_);
    auto at = free_.find({bytes, node, number});
    if (at == free_.end()) at = free_.lower_bound({bytes, node, 0});  // the thread's own is not there: any
    if (at == free_.end() || std::get<0>(at->first) != bytes || std::get<1>(at->first) != node) return nullptr;
    std::unique_ptr<owned_copy> found = std::move(at->second.back());
    at->second.pop_back();
    if (at->second.empty()) free_.erase(at);
    kept_ -= bytes;
    return found;
  }

  void put(std::unique_ptr<owned_copy> given) {
    std::size_t const bytes = given->memory.size();
    std::vector<copies> dead;  // unmapped after unlocking, as are copies that do not fit
    auto const lock = short_lock(mutex_);
    if (bytes > most_kept_bytes - kept_) give_up_others(bytes, dead);
    if (bytes > most_kept_bytes - kept_) return;
    key const like{bytes, given->node, given->number};
    auto const at = free_.try_emplace(like).first;
    try {
      at->second.push_back(std::move(given));
    } catch (std::bad_alloc const&) {
      if (at->second.empty()) free_.erase(at);  // take() counts on a copy in each list
      throw;
    }
    kept_ += bytes;
  }

 private:
  using key = std::tuple<std::size_t, std::optional<unsigned>, std::uint32_t>;  ///< bytes, node, number
  using copies = std::vector<std::unique_ptr<owned_copy>>;

  /// Other sizes may never be needed again, such as those of arrays that have grown.
  void give_up_others(std::size_t but, std::vector<copies>& dead) {
    for (auto at = free_.begin(); at != free_.end();) {
      std::size_t const bytes = std::get<0>(at->first);
      if (bytes == but) {
        ++at;
        continue;
      }
      std::size_t const number = at->second.size();
      dead.push_back(std::move(at->second));  // may throw, and has taken nothing then
      kept_ -= bytes * number;
      at = free_.erase(at);
    }
  }

  numa::fork_safe_mutex mutex_;
  std::map<key, copies> free_;  ///< no list is empty
  std::size_t kept_ = 0;
};

}  // namespace

std::unique_ptr<owned_copy> lend(std::size_t bytes, std::uint32_t number, std::optional<unsigned> on_node) {
  bytes = rounded(bytes);
  auto copy = pool::instance().take(bytes, number, on_node);
  if (!copy) copy = std::make_unique<owned_copy>(bytes, on_node);
  copy->number = number;
  copy->turn.store(0, std::memory_order_relaxed);  // rounds start over
  copy->is_under_way = false;                      // of a combination that was given up
  return copy;
}

void take_back(std::unique_ptr<owned_copy> given) noexcept try {
  pool::instance().put(std::move(given));
} catch (std::bad_alloc const&) {
  // The copy is freed then.
}

}  // namespace coset::reducer_room
