// SPDX-License-Identifier: Apache-2.0
// Checks of arguments that C++ and C share: lengths that no array has, and arrays that are not there.
#pragma once

#include <cstddef>
#include <span>

#include "coset/detail/collective.hpp"
#include "coset/error.hpp"

namespace coset::inline COSET_ABI::detail {

/// If `make` throws for wrong arguments, every rank of the team gets the error.
template <class Make>
auto told(rank_state& me, Make const& make) -> decltype(make()) {
  try {
    return make();
  } catch (argument_error const& wrong) {
    refuse(me, wrong.what());
  }
}

/// Throw argument_error for more elements, or bytes, than any object has.
std::size_t sum(std::size_t, std::size_t);
std::size_t product(std::size_t, std::size_t);
std::size_t total(std::span<std::size_t const> counts);

/// Refuses NULL for an array of so many bytes, unless they are 0.
void require_array(rank_state&, verb, void const* array, std::size_t bytes, char const* name);

}  // namespace coset::inline COSET_ABI::detail
