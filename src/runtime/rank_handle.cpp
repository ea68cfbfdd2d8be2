// SPDX-License-Identifier: Apache-2.0
#include "runtime/rank_handle.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "numa/process/fork.hpp"

namespace coset::runtime {
namespace {

using detail::rank_handle;

struct all_handles {
  numa::fork_safe_mutex guard;
  std::vector<std::unique_ptr<rank_handle>> all;
  std::vector<rank_handle*> free;  ///< with room for all, so that giving one back allocates nothing
};

/// Not destroyed at the end of the process: requests with static storage may come later. Not on the heap either: a sanitizer
/// that does not see this library would take its making for a race with the next thread's lock.
all_handles& handles() {
  alignas(all_handles) static std::byte place[sizeof(all_handles)];
  static auto& those = *::new (place) all_handles;
  return those;
}

rank_handle& taken_handle() {
  all_handles& handles = runtime::handles();
  std::lock_guard const lock(handles.guard);
  if (handles.free.empty()) {
    handles.all.push_back(std::make_unique<rank_handle>());
    handles.free.reserve(handles.all.size());
    return *handles.all.back();
  }
  rank_handle& last = *handles.free.back();
  handles.free.pop_back();
  return last;
}

}  // namespace

own_handle::own_handle(detail::rank_state& of)
    : handle_(taken_handle()), reference_{&handle_, handle_.life.load(std::memory_order_relaxed)} {
  handle_.rank.store(&of, std::memory_order_relaxed);
}

void own_handle::begin_another_life() noexcept {
  reference_.life = handle_.life.fetch_add(1, std::memory_order_relaxed) + 1;
}

own_handle::~own_handle() {
  handle_.rank.store(nullptr, std::memory_order_relaxed);
  handle_.life.fetch_add(1, std::memory_order_relaxed);
  all_handles& handles = runtime::handles();
  std::lock_guard const lock(handles.guard);
  handles.free.push_back(&handle_);
}

}  // namespace coset::runtime

namespace coset::inline COSET_ABI::detail {

rank_state* rank_reference::rank() const noexcept {
  if (handle == nullptr || handle->life.load(std::memory_order_relaxed) != life) return nullptr;
  return handle->rank.load(std::memory_order_relaxed);
}

}  // namespace coset::detail
