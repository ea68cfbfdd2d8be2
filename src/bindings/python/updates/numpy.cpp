// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/updates/numpy.hpp"

#include <utility>

#include "bindings/python/gil.hpp"

namespace coset::python {
namespace {

bool is_native(py::array const& of) { return of.dtype().attr("isnative").cast<bool>(); }
bool is_aligned(py::array const& of) { return (of.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) != 0; }
bool is_in_one_piece(py::array const& of) { return (of.flags() & (py::array::c_style | py::array::f_style)) != 0; }

/// In C's order and this machine's byte order.
py::array copied(py::array const& of) {
  return py::array(method(of, "astype", method(of.dtype(), "newbyteorder", "="), "C"));
}

}  // namespace

py::object called(py::object const& function, py::tuple const& arguments) {
  PyObject* const result = awake_until_exit([&] { return PyObject_Call(function.ptr(), arguments.ptr(), nullptr); });
  if (result == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

py::array converted(py::array const& of, py::object const& dtype) {
  return py::array(method(of, "astype", dtype, "K", "unsafe", true, false));
}

std::string words(py::handle const& of) { return py::str(of).cast<std::string>(); }

row::row(py::array of, py::array const* except) : array(std::move(of)) {
  bool const shares = except != nullptr && numpy("may_share_memory", array, *except).cast<bool>();
  bool const even = array.ndim() == 1 || (array.flags() & py::array::c_style) != 0;
  if (shares || !even || !is_native(array) || !is_aligned(array)) array = copied(array);
  stride = array.ndim() == 1 ? array.strides(0) : array.itemsize();
}

target::target(py::handle given, parameter at) : given_(writable(given, at)) {
  plain_ = is_in_one_piece(given_) && is_native(given_) && is_aligned(given_) ? given_ : copied(given_);
  static_cast<void>(element_type(plain_, at));
}

void target::finish() {
  if (!plain_.is(given_)) numpy("copyto", given_, plain_);
}

}  // namespace coset::python
