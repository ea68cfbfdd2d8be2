// SPDX-License-Identifier: Apache-2.0
#include "reducer/pool.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <utility>

#include "numa/binding.hpp"
#include "reducer/short_lock.hpp"

namespace coset::reducer_room {
namespace {

using copies = std::vector<std::unique_ptr<owned_copy>>;
using node = std::optional<unsigned>;

/// Rounds to quarters of powers of two and whole pages, so that reducers of similar size reuse each other's copies.
std::size_t rounded(std::size_t bytes) {
  bytes = std::max<std::size_t>(bytes, 1);
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

  /// The latest set that was left on this node; empty if there is none.
  copies take(std::size_t bytes, copies_home const& home) {
    auto const lock = short_lock(mutex_);
    auto const from = std::find_if(kept_.rbegin(), kept_.rend(),
                                   [&](set const& each) { return each.bytes == bytes && each.home == home; });
    if (from == kept_.rend()) return {};
    copies found = std::move(from->all);
    kept_bytes_ -= bytes * found.size();
    kept_.erase(std::next(from).base());
    return found;
  }

  /// What does not fit is unmapped after unlocking: sets of other sizes, older ones, and what is more than may ever be kept.
  void put(std::size_t bytes, copies_home const& home, copies given) {
    std::vector<set> dead;
    copies too_many;
    auto const lock = short_lock(mutex_);
    if (bytes * given.size() > most_kept_bytes - kept_bytes_) give_up_others(bytes, dead);
    while (bytes * given.size() > most_kept_bytes - kept_bytes_ && !kept_.empty()) give_up_first(dead);
    std::size_t const most = (most_kept_bytes - kept_bytes_) / bytes;
    if (given.size() > most) {
      too_many.assign(std::make_move_iterator(given.begin() + static_cast<std::ptrdiff_t>(most)),
                      std::make_move_iterator(given.end()));
      given.resize(most);
    }
    if (kept_.size() == most_sets) give_up_first(dead);
    if (given.empty()) return;
    std::size_t const number = given.size();
    kept_.push_back({bytes, home, std::move(given)});
    kept_bytes_ += bytes * number;
  }

 private:
  struct set {
    std::size_t bytes;  ///< of each copy
    copies_home home;
    copies all;
  };
  static constexpr std::size_t most_sets = 256;  ///< all are looked at

  /// Other sizes may never be needed again, such as those of arrays that have grown.
  void give_up_others(std::size_t but, std::vector<set>& dead) {
    auto const others =
        std::stable_partition(kept_.begin(), kept_.end(), [&](set const& each) { return each.bytes == but; });
    dead.assign(std::make_move_iterator(others), std::make_move_iterator(kept_.end()));
    kept_.erase(others, kept_.end());
    for (set const& each : dead) kept_bytes_ -= each.bytes * each.all.size();
  }
  void give_up_first(std::vector<set>& dead) {
    dead.push_back(std::move(kept_.front()));
    kept_.erase(kept_.begin());
    kept_bytes_ -= dead.back().bytes * dead.back().all.size();
  }

  numa::fork_safe_mutex mutex_;
  std::vector<set> kept_;  ///< none is empty; the latest comes last
  std::size_t kept_bytes_ = 0;
};

}  // namespace

copy_set::copy_set(std::size_t bytes, memory_kind kind)
    : bytes_(rounded(bytes)),
      home_{numa::current_node(), numa::resolved(kind, memory_kind::high_bandwidth)},
      idle_(pool::instance().take(bytes_, home_)) {}

void copy_set::leave_idle() noexcept {
  if (idle_.empty()) return;
  try {
    pool::instance().put(bytes_, home_, std::move(idle_));
  } catch (std::bad_alloc const&) {
    // The copies are freed then.
  }
  idle_.clear();
  note_idle();
}

std::unique_ptr<owned_copy> copy_set::lend(std::uint32_t number, node on_node) {
  if (idle_.empty()) idle_ = pool::instance().take(bytes_, home_);
  auto found = idle_.end();
  for (auto at = idle_.begin(); at != idle_.end(); ++at) {
    if ((*at)->node != on_node) continue;
    if (found == idle_.end() || (*at)->number == number) found = at;
    if ((*at)->number == number) break;
  }
  if (found == idle_.end()) {
    note_idle();
    auto made = std::make_unique<owned_copy>(bytes_, on_node, home_.kind);
    made->number = number;
    return made;
  }
  auto copy = std::move(*found);
  idle_.erase(found);
  note_idle();
  if (copy->number != number) copy->number = number;  // a write would take the line from its thread
  copy->turn.store(0, std::memory_order_relaxed);     // rounds start over
  copy->is_under_way = false;                         // of a combination that was given up
  return copy;
}

void copy_set::take_back(std::unique_ptr<owned_copy> given) noexcept try {
  idle_.push_back(std::move(given));
  note_idle();
} catch (std::bad_alloc const&) {
  // The copy is freed then.
}

}  // namespace coset::reducer_room
