// SPDX-License-Identifier: Apache-2.0
// One rank of a team, as bodies get it.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <thread>

#include "coset/detail/collective.hpp"
#include "coset/team.hpp"
#include "python/arrays.hpp"

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

/// A whole number of Python's, from `least`. Throws argument_error.
rank_t whole_number(py::handle x, char const* function, char const* name, rank_t least);

/// The call of Team.allreduce() for one rank, in place. Throws argument_error.
detail::call allreduce_call(elements const&, std::string const& operation);

}  // namespace coset::python
