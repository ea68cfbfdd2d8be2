// SPDX-License-Identifier: Apache-2.0
// What is asked of numpy for loops of updates: conversions, and arrays whose elements lie evenly.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "bindings/python/arrays.hpp"
#include "bindings/python/updates/scatter.hpp"

namespace coset::python {

/// function(arguments). A thread that the interpreter's end meets in there sleeps, with all that its callers hold: what runs
/// Python's code, or gives the GIL away for a while, may be where that happens.
py::object called(py::object const& function, py::tuple const& arguments);
/// numpy.NAME(arguments…)
template <class... Arguments>
py::object numpy(char const* name, Arguments&&... arguments) {
  return called(py::module_::import("numpy").attr(name), py::make_tuple(std::forward<Arguments>(arguments)...));
}
/// of.NAME(arguments…)
template <class... Arguments>
py::object method(py::handle of, char const* name, Arguments&&... arguments) {
  return called(of.attr(name), py::make_tuple(std::forward<Arguments>(arguments)...));
}
/// Of any dtype; not copied where it has that already.
py::array converted(py::array const&, py::object const& dtype);
std::string words(py::handle const&);

/// Elements one after the other at one distance, aligned, in this machine's byte order.
struct row {
  row() = default;
  /// The array, or a copy where it is no such row, or where `except` may share its memory: that is written to meanwhile.
  explicit row(py::array of, py::array const* except = nullptr);

  py::array array;
  std::ptrdiff_t stride = 0;  ///< in bytes
  std::size_t count() const { return static_cast<std::size_t>(array.size()); }
  template <class T>
  T const* data() const {
    return static_cast<T const*>(array.data());
  }
  /// Along a dimension of this length; the array has integers.
  index_axis axis(std::int64_t length, std::int64_t weight, parameter at) const {
    return {array.data(), stride, element_type(array, at), length, weight};
  }
};

/// What is written to: the array itself, where its elements lie in one piece; otherwise a copy, which finish() copies back.
class target {
 public:
  target(py::handle given, parameter);
  py::array const& plain() const noexcept { return plain_; }
  void finish();

 private:
  py::array given_, plain_;
};

}  // namespace coset::python
