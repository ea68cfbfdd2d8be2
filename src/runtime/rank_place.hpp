// SPDX-License-Identifier: Apache-2.0
// Places through which requests, which may outlive ranks, find them.
#pragma once

#include <atomic>
#include <cstdint>

#include "coset/request.hpp"

namespace coset::detail {

/// Places are reused and never freed, so that references need neither a count nor a release: a C program may simply
/// forget its request.
struct rank_place {
  std::atomic<rank_state*> rank = nullptr;
  std::atomic<std::uint64_t> life = 0;
};

}  // namespace coset::detail

namespace coset::runtime {

/// A rank's own, for as long as the rank lives. Takes a lock to come and to go.
class own_place {
 public:
  explicit own_place(detail::rank_state&);
  ~own_place();
  own_place(own_place const&) = delete;
  own_place& operator=(own_place const&) = delete;

  detail::rank_reference reference() const noexcept { return reference_; }

 private:
  detail::rank_place& place_;
  detail::rank_reference reference_;
};

}  // namespace coset::runtime
