// SPDX-License-Identifier: Apache-2.0
// numpy's arrays, and what else holds numbers, as the erased verbs take them.
#pragma once

#include <pybind11/numpy.h>

#include <cstddef>
#include <string>

#include "bindings/c/tables.hpp"

namespace coset::python {

namespace py = pybind11;

/// Elements one after the other, and the array that keeps them where they are.
struct elements {
  void* data = nullptr;
  std::size_t count = 0;
  coset_type type = 0;
  py::object array;

  /// "float64". With the GIL.
  std::string dtype() const;
};

/// Names what was passed in messages: "allreduce", "out".
struct parameter {
  char const* function;
  char const* name;
};

/// Imports numpy, and has pybind11 do with it what it would do at the first array: two threads that did that at once would
/// wait for each other for ever. Called while the module is imported.
void prepare_arrays();

/// Whether `x` is one number, which verbs return instead of changing it.
bool is_number(py::handle x);

/// What is only read: arrays and buffers as they are, numbers, lists and what else numpy makes an array of as a copy. Throws
/// argument_error for arrays with gaps, of another byte order or of a dtype that coset does not reduce.
elements read_from(py::handle x, parameter);
/// What is written to: numpy's arrays, and all else that lends Python its memory, like array.array and memoryview. Throws
/// argument_error for what would have to be copied, and for what is read-only.
elements written_to(py::handle x, parameter);
/// numpy's array over what is written to, whatever its elements are and however they lie.
py::array writable(py::handle x, parameter);
/// Throws argument_error for a dtype that coset does not reduce, and for another byte order.
coset_type element_type(py::array const&, parameter);
/// A number's copy, or what is written to.
elements changed(py::handle x, parameter);

/// By the name that C++ has: "plus", "maximum", "reproducible_plus". Throws argument_error listing all.
coset_operation operation_named(std::string const&);

}  // namespace coset::python
