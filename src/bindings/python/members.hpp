// SPDX-License-Identifier: Apache-2.0
// One rank of a team, as bodies get it.
#pragma once

#include <pybind11/pybind11.h>

#include <limits>
#include <string>
#include <thread>

#include "bindings/python/arrays.hpp"
#include "coset/detail/collective.hpp"
#include "coset/team.hpp"

namespace coset::python {

/// A member for Python, which may keep it: it ends with the body.
class python_member {
 public:
  explicit python_member(member& me) : me_(&me), thread_(std::this_thread::get_id()) {}

  void end() noexcept { me_ = nullptr; }
  /// Throws argument_error after the end, to other threads, and to a signal's handler that interrupts a verb.
  member& get() const;

 private:
  member* me_;
  std::thread::id thread_;
};

inline constexpr rank_t any_rank = std::numeric_limits<rank_t>::max();
/// A whole number of Python's. Throws argument_error for any other, and for what is no number.
rank_t whole_number(py::handle x, parameter, rank_t least, rank_t most = any_rank);

/// The call of Team.allreduce() for one rank, in place. Throws argument_error.
detail::call allreduce_call(elements const&, std::string const& operation);

}  // namespace coset::python
