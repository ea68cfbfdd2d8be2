// SPDX-License-Identifier: Apache-2.0
#include "runtime/rank_place.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace coset::runtime {
namespace {

using detail::rank_place;

struct all_places {
  std::mutex guard;
  std::vector<std::unique_ptr<rank_place>> all;
  std::vector<rank_place*> free;  ///< with room for all, so that giving one back allocates nothing
};

/// Not destroyed at the end of the process: requests with static storage may come later.
all_places& places() {
  static auto* const those = new all_places;
  return *those;
}

rank_place& taken_place() {
  all_places& places = runtime::places();
  std::lock_guard const lock(places.guard);
  if (places.free.empty()) {
    places.all.push_back(std::make_unique<rank_place>());
    places.free.reserve(places.all.size());
    return *places.all.back();
  }
  rank_place& last = *places.free.back();
  places.free.pop_back();
  return last;
}

}  // namespace

own_place::own_place(detail::rank_state& of) : place_(taken_place()), reference_{&place_, place_.life.load()} {
  place_.rank.store(&of, std::memory_order_release);
}

own_place::~own_place() {
  place_.rank.store(nullptr, std::memory_order_relaxed);
  place_.life.fetch_add(1, std::memory_order_release);  // partner: rank()
  all_places& places = runtime::places();
  std::lock_guard const lock(places.guard);
  places.free.push_back(&place_);
}

}  // namespace coset::runtime

namespace coset::detail {

rank_state* rank_reference::rank() const noexcept {
  if (place == nullptr || place->life.load(std::memory_order_acquire) != life) return nullptr;
  return place->rank.load(std::memory_order_acquire);
}

}  // namespace coset::detail
