// SPDX-License-Identifier: Apache-2.0
// Handles through which requests, which may outlive ranks, find them.
#pragma once

#include <atomic>
#include <cstdint>

#include "coset/request.hpp"

namespace coset::inline COSET_ABI::detail {

/// Handles are used again and never freed, so that a reference costs no count and nobody has to give it back: what lies in
/// a C program's request may simply be forgotten.
/// A rank's end happens before anybody may use what refers to it, so that no order is needed; other ranks that have taken
/// the handle meanwhile show another life.
struct rank_handle {
  std::atomic<rank_state*> rank = nullptr;
  std::atomic<std::uint64_t> life = 0;
};

}  // namespace coset::detail

namespace coset::runtime {

/// A rank's own, for as long as the rank lives. Takes a lock to come and to go.
class own_handle {
 public:
  explicit own_handle(detail::rank_state&);
  ~own_handle();
  own_handle(own_handle const&) = delete;
  own_handle& operator=(own_handle const&) = delete;

  /// What refers to the rank as it was finds it ended from now on.
  void begin_another_life() noexcept;

  detail::rank_reference reference() const noexcept { return reference_; }

 private:
  detail::rank_handle& handle_;
  detail::rank_reference reference_;
};

}  // namespace coset::runtime
