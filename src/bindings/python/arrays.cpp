// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/arrays.hpp"

#include <array>
#include <bit>
#include <concepts>
#include <utility>

#include "base/text/format.hpp"
#include "coset/error.hpp"
#include "coset/identity.hpp"
#include "verbs/values.hpp"

namespace coset::python {
namespace {

/// As numpy tells them; kind 0: it has no such elements.
struct dtype_row {
  char kind;
  py::ssize_t bytes;
};

template <class T>
constexpr dtype_row dtype_of() {
  constexpr char kind = std::same_as<T, bool>          ? 'b'
                        : std::signed_integral<T>      ? 'i'
                        : std::unsigned_integral<T>    ? 'u'
                        : std::floating_point<T>       ? 'f'
                        : std::same_as<T, float16>     ? 'f'
                        : detail::is_complex_number<T> ? 'c'
                                                       : '\0';
  return {kind, sizeof(T)};
}

constexpr auto dtypes = values::elements.applied([]<class... T>() { return std::array{dtype_of<T>()...}; });

/// numpy has no elements with locations.
constexpr auto& operations = values::operations;
constexpr auto is_taken = operations.applied(
    []<class... Op>() { return std::array{!detail::is_one_of<Op, minimum_location, maximum_location>...}; });

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
  for (std::size_t e = 0; e < dtypes.size(); ++e)
    if (dtypes[e].kind == type.kind() && dtypes[e].bytes == type.itemsize())
      return values::first_element + static_cast<coset_type>(e);
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
  for (std::size_t o = 0; o < operations.size; ++o) {
    if (!is_taken[o]) continue;
    if (name == operations.names[o]) return values::first_operation + static_cast<coset_operation>(o);
    all += (all.empty() ? "" : ", ") + std::string(operations.names[o]);
  }
  throw argument_error(text::format("no operation is called {}; there are {}", name, all));
}

}  // namespace coset::python
