// SPDX-License-Identifier: Apache-2.0
// Where ranks can be found by those who may outlive them.
#pragma once

#include <atomic>
#include <cstdint>

#include "coset/request.hpp"

namespace coset::detail {

/// Places are used again and never freed, so that a reference costs no count and nobody has to give it back: what lies in
/// a C program's request may simply be forgotten.
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
