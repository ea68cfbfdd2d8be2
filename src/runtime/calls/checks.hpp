// SPDX-License-Identifier: Apache-2.0
// Checks of arguments that C++ and C share: lengths that no array has, and arrays that are not there.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "coset/detail/collective.hpp"
#include "coset/error.hpp"
#include "runtime/rank_state.hpp"

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

/// While it lives, operations of this rank are parts of one call, which they are named after where memory is short.
class call_in_parts {
 public:
  call_in_parts(rank_state& me, verb what, std::size_t bytes)
      : of_(me), whole_{what, bytes}, before_(std::exchange(me.memory.part_of, &whole_)) {}
  ~call_in_parts() { of_.memory.part_of = before_; }
  call_in_parts(call_in_parts const&) = delete;
  call_in_parts& operator=(call_in_parts const&) = delete;

 private:
  rank_state& of_;
  runtime::whole_call const whole_, *const before_;
};

/// Throw argument_error for more elements, or bytes, than any object has.
std::size_t sum(std::size_t, std::size_t);
std::size_t product(std::size_t, std::size_t);
std::size_t total(std::span<std::size_t const> counts);

/// Refuses NULL for an array of so many bytes, unless they are 0.
void require_array(rank_state&, verb, void const* array, std::size_t bytes, char const* name);

}  // namespace coset::detail
