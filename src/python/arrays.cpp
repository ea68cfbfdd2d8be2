// SPDX-License-Identifier: Apache-2.0
#include "python/arrays.hpp"

#include <array>
#include <utility>

#include "coset/error.hpp"
#include "text/format.hpp"

namespace coset::python {
namespace {

struct dtype_row {
  char kind;
  py::ssize_t bytes;
  coset_type type;
};
constexpr std::array<dtype_row, 14> dtypes{{{'i', 1, COSET_INT8},
                                            {'i', 2, COSET_INT16},
                                            {'i', 4, COSET_INT32},
                                            {'i', 8, COSET_INT64},
                                            {'u', 1, COSET_UINT8},
                                            {'u', 2, COSET_UINT16},
                                            {'u', 4, COSET_UINT32},
                                            {'u', 8, COSET_UINT64},
                                            {'f', 2, COSET_FLOAT16},
                                            {'f', 4, COSET_FLOAT32},
                                            {'f', 8, COSET_FLOAT64},
                                            {'c', 8, COSET_COMPLEX64},
                                            {'c', 16, COSET_COMPLEX128},
                                            {'b', 1, COSET_BOOL}}};

constexpr std::array<std::pair<char const*, coset_operation>, 11> operations{
    {{"plus", COSET_PLUS},
     {"multiplies", COSET_MULTIPLIES},
     {"minimum", COSET_MINIMUM},
     {"maximum", COSET_MAXIMUM},
     {"bit_and", COSET_BIT_AND},
     {"bit_or", COSET_BIT_OR},
     {"bit_xor", COSET_BIT_XOR},
     {"logical_and", COSET_LOGICAL_AND},
     {"logical_or", COSET_LOGICAL_OR},
     {"logical_xor", COSET_LOGICAL_XOR},
     {"reproducible_plus", COSET_REPRODUCIBLE_PLUS}}};

std::string text_of(py::handle const& of) { return py::str(of).cast<std::string>(); }

}  // namespace

elements elements_of(py::array const& array) {
  if ((array.flags() & py::array::c_style) == 0)
    throw argument_error("the array has gaps or another order than C's: take numpy.ascontiguousarray() of it");
  py::dtype const type = array.dtype();
  if (!type.attr("isnative").cast<bool>())
    throw argument_error(
        "the array has another byte order than this machine: take x.astype(x.dtype.newbyteorder('='))");
  for (dtype_row const& row : dtypes) {
    if (row.kind == type.kind() && row.bytes == type.itemsize())
      return {const_cast<void*>(array.data()), static_cast<std::size_t>(array.size()), row.type};
  }
  throw argument_error(text::format("coset reduces integers, floats, complex numbers and bool, not {}", text_of(type)));
}

elements writable(py::array const& array) {
  if (!array.writeable()) throw argument_error("the array is read-only");
  return elements_of(array);
}

coset_operation operation_named(std::string const& name) {
  std::string all;
  for (auto const& [known, operation] : operations) {
    if (name == known) return operation;
    all += (all.empty() ? "" : ", ") + std::string(known);
  }
  throw argument_error(text::format("no operation is called {}; there are {}", name, all));
}

}  // namespace coset::python
