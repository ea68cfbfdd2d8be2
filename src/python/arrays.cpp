// SPDX-License-Identifier: Apache-2.0
#include "python/arrays.hpp"

#include <array>
#include <bit>
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

/// What calls look up, found when the module is imported. It is never freed: nobody knows who comes last.
struct numpy_names {
  py::object number, masked, array, asarray;
};
numpy_names const* numpy = nullptr;

std::string text_of(py::handle const& of) { return py::str(of).cast<std::string>(); }
std::string type_of(py::handle const& of) { return py::str(py::type::of(of).attr("__name__")).cast<std::string>(); }

[[noreturn]] void refuse(parameter const& at, std::string const& why) {
  throw argument_error(text::format("{}: {} {}", at.function, at.name, why));
}

coset_type type_in(py::dtype const& type, parameter const& at) {
  if (type.byteorder() == (std::endian::native == std::endian::little ? '>' : '<'))
    refuse(at, "has another byte order than this machine: pass an array of this machine's");
  for (dtype_row const& row : dtypes) {
    if (row.kind == type.kind() && row.bytes == type.itemsize()) return row.type;
  }
  refuse(at, text::format("has elements of {}: coset takes integers, floats, complex numbers and bool", text_of(type)));
}

elements elements_of(py::array array, parameter const& at) {
  if ((array.flags() & py::array::c_style) == 0)
    refuse(at, "has gaps or another order than C's: pass a C-contiguous array");
  if ((array.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) == 0)
    refuse(at, "begins in the middle of an element: take a copy of it");
  coset_type const type = type_in(array.dtype(), at);
  return {const_cast<void*>(array.data()), static_cast<std::size_t>(array.size()), type, std::move(array)};
}

bool is_array(py::handle x, parameter const& at) {
  if (!py::isinstance<py::array>(x)) return false;
  if (py::isinstance(x, numpy->masked)) refuse(at, "is a masked array, whose mask would be ignored: take its data");
  return true;
}

/// Shares the memory of what lends it.
py::array array_over(py::handle buffer) {
  return numpy->asarray(py::memoryview(py::reinterpret_borrow<py::object>(buffer)));
}

}  // namespace

std::string elements::dtype() const { return text_of(array.attr("dtype")); }

void prepare_arrays() {
  auto const module = py::module_::import("numpy");
  // numpy 2 has another layout of dtypes.
  if (PYBIND11_VERSION_HEX < 0x020C0000 && text_of(module.attr("__version__")).starts_with("2"))
    throw py::import_error("coset was built with a pybind11 older than 2.12, which knows numpy 1 only");
  numpy = new numpy_names{module.attr("generic"), py::module_::import("numpy.ma").attr("MaskedArray"),
                          module.attr("array"), module.attr("asarray")};
  static_cast<void>(py::array(py::dtype::of<double>(), 1));
}

bool is_number(py::handle x) {
  if (py::isinstance<py::array>(x)) return false;
  return PyFloat_Check(x.ptr()) || PyLong_Check(x.ptr()) || PyComplex_Check(x.ptr()) ||
         py::isinstance(x, numpy->number);
}

elements read_from(py::handle x, parameter at) {
  if (is_array(x, at)) return elements_of(py::reinterpret_borrow<py::array>(x), at);
  if (!is_number(x) && PyObject_CheckBuffer(x.ptr()) != 0) return elements_of(array_over(x), at);
  return elements_of(numpy->array(x), at);
}

py::array writable(py::handle x, parameter at) {
  bool const lends = is_array(x, at) || (!is_number(x) && PyObject_CheckBuffer(x.ptr()) != 0);
  if (!lends) {
    refuse(at, text::format("is of type {}, which cannot be written to: pass a numpy array or another writable buffer",
                            type_of(x)));
  }
  py::array array = py::isinstance<py::array>(x) ? py::reinterpret_borrow<py::array>(x) : array_over(x);
  if (!array.writeable()) refuse(at, "is read-only");
  return array;
}

elements written_to(py::handle x, parameter at) { return elements_of(writable(x, at), at); }

coset_type element_type(py::array const& of, parameter at) { return type_in(of.dtype(), at); }

elements changed(py::handle x, parameter at) {
  return is_number(x) ? elements_of(numpy->array(x), at) : written_to(x, at);
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
