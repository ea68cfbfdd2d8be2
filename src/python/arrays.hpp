// SPDX-License-Identifier: Apache-2.0
// numpy's arrays as the erased verbs take them.
#pragma once

#include <pybind11/numpy.h>

#include <cstddef>
#include <string>

#include "api/c/tables.hpp"
#include "coset/detail/collective.hpp"

namespace coset::python {

namespace py = pybind11;

/// Elements one after the other. The array is kept by who has this.
struct elements {
  void* data;
  std::size_t count;
  coset_type type;
};

/// Throws argument_error for arrays with gaps, of another byte order or of a dtype that coset does not reduce.
elements elements_of(py::array const&);
/// The same for arrays that are written to: also if it is read-only.
elements writable(py::array const&);

/// By the name that C++ has: "plus", "maximum", "reproducible_plus". Throws argument_error listing all.
coset_operation operation_named(std::string const&);

}  // namespace coset::python
