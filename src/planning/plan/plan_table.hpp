// SPDX-License-Identifier: Apache-2.0
// The bound plans of a team that are still in use.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coset/plan.hpp"
#include "planning/plan/bound_plan.hpp"
#include "planning/plan/calls.hpp"

namespace coset::planning {

/// What a plan object asks for beside its call.
struct plan_wish {
  std::string algorithm, storage;
  std::size_t segment_bytes = 0;
  bits required{};
  std::vector<std::size_t> counts;
  friend auto operator<=>(plan_wish const&, plan_wish const&) = default;
};

/// What tells the plans of plan objects apart.
using plan_request = std::pair<plan_key, plan_wish>;

/// What is kept as long as others use it. `Map`: some map of the keys to weak pointers.
template <class Key, class Value, class Map = std::map<Key, std::weak_ptr<Value>>>
class weak_map {
 public:
  using pointer = std::shared_ptr<Value>;

  /// What this key has; `make` makes it if nobody uses it. If `make` throws, nothing is kept.
  template <class Make>
  pointer get(Key const& key, Make&& make) {
    if (auto const found = all_.find(key); found != all_.end()) {
      if (pointer there = found->second.lock()) return there;
    }
    pointer made = make();
    forget_the_gone();
    all_[key] = made;
    return made;
  }
  std::size_t size() const { return all_.size(); }

 private:
  /// Now and then, so that it costs a constant for each that is made.
  void forget_the_gone() {
    if (all_.size() < limit_) return;
    std::erase_if(all_, [](auto const& entry) { return entry.second.expired(); });
    limit_ = std::max(smallest_limit, 2 * all_.size());
  }

  static constexpr std::size_t smallest_limit = 64;

  Map all_;
  std::size_t limit_ = smallest_limit;
};

/// Ranks that call alike, and plan objects of one kind, share one bound plan; it goes with the last of them. So a team
/// keeps no more than its ranks' caches, the plans alive and the operations under way hold. Any thread.
class plan_table {
 public:
  using pointer = std::shared_ptr<detail::bound_plan const>;

  /// The plan of this key; `make` makes it if no call, plan object or request uses it. If `make` throws, nothing is
  /// kept.
  template <class Make>
  pointer get(plan_key const& key, Make&& make) {
    auto const lock = locked();
    return of_calls_.get(key, std::forward<Make>(make));
  }
  /// The same of a plan object's.
  template <class Make>
  pointer get(plan_request const& key, Make&& make) {
    auto const lock = locked();
    return of_objects_.get(key, std::forward<Make>(make));
  }

  /// Plans and keys kept, for tests.
  std::size_t size() const {
    std::lock_guard const lock(mutex_);
    return of_calls_.size() + of_objects_.size();
  }

  /// Whether this is said for the first time.
  bool is_new(std::string const& text) {
    std::lock_guard const lock(mutex_);
    return said_.insert(text).second;
  }

 private:
  /// Ranks meet a new length all at once, and one of them binds it for all. To be woken takes some 25 µs, several times as long as
  /// that, so the others sleep only once it has taken as long.
  std::unique_lock<std::mutex> locked() const {
    constexpr int looks = 100;  // yielding, some 0.3 µs each
    std::unique_lock lock(mutex_, std::try_to_lock);
    for (int i = 0; i < looks && !lock.owns_lock(); ++i) {
      std::this_thread::yield();
      if (lock.try_lock()) break;
    }
    if (!lock.owns_lock()) lock.lock();
    return lock;
  }

  mutable std::mutex mutex_;
  using by_hash = std::unordered_map<plan_key, std::weak_ptr<detail::bound_plan const>, plan_key_hash>;
  weak_map<plan_key, detail::bound_plan const, by_hash> of_calls_;
  weak_map<plan_request, detail::bound_plan const> of_objects_;
  std::set<std::string> said_;
};

}  // namespace coset::planning
