// SPDX-License-Identifier: Apache-2.0
// add_at() and bincount(): numpy's functions by several threads, without the GIL.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text/format.hpp"
#include "bindings/python/members.hpp"
#include "bindings/python/module.hpp"
#include "bindings/python/signals.hpp"
#include "bindings/python/updates/loops.hpp"
#include "bindings/python/updates/numpy.hpp"
#include "bindings/python/updates/spare_team.hpp"
#include "coset/error.hpp"

namespace coset::python {
namespace {

using namespace pybind11::literals;

constexpr rank_t most_threads = 1 << 16;

/// Indices for each dimension of the target, as arrays of one shape.
class indices {
 public:
  indices(py::handle given, py::array const& target) : length_(static_cast<std::int64_t>(target.size())) {
    py::list const arrays = arrays_of(given);
    if (arrays.size() != static_cast<std::size_t>(target.ndim())) {
      throw argument_error(
          text::format("add_at: index has {} arrays and array {} dimensions: pass a tuple with an array of integers "
                       "for each dimension",
                       arrays.size(), target.ndim()));
    }
    py::object const together = arrays.size() < 2
                                    ? py::object(arrays)
                                    : called(py::module_::import("numpy").attr("broadcast_arrays"), py::tuple(arrays));
    for (py::ssize_t d = 0; d < target.ndim(); ++d) add_axis(py::array(together[py::int_(d)]), target, d);
    if (!rows_.empty()) shape_ = together[py::int_(0)].attr("shape");
  }

  py::tuple const& shape() const noexcept { return shape_; }
  /// An element without dimensions is updated once.
  std::size_t count() const { return rows_.empty() ? 1 : rows_.front().count(); }

  /// Throws IndexError.
  void require_inside(team* with) {
    for (std::size_t d = 0; d < axes_.size() && count() > 0; ++d) {
      index_axis const& axis = axes_[d];
      auto const wrong = without_gil([&]() -> std::optional<std::size_t> {
        bounds_ = bounds_of(with, axis, count());
        if (bounds_.least >= -axis.length && bounds_.greatest < axis.length) return std::nullopt;
        return first_outside(axis, count());
      });
      if (!wrong) continue;
      throw py::index_error(text::format("add_at: index {} is out of bounds for axis {} with size {}",
                                         words(rows_[d].array.attr("flat")[py::int_(*wrong)]), d, axis.length));
    }
  }

  /// Of indices that are inside. Called without the GIL; valid as long as this object.
  update_keys keys(team* with) {
    if (axes_.size() == 1 && is_direct(axes_[0])) return direct(axes_[0], bounds_);
    positions_ = flattened(with, axes_, count());
    return {positions_.get(), 1, length_, true, true};
  }

 private:
  static py::list arrays_of(py::handle given) {
    py::list all;
    if (!py::isinstance<py::tuple>(given)) {
      all.append(numpy("asarray", given));
    } else {
      for (py::handle const each : given) all.append(numpy("asarray", each));
    }
    return all;
  }

  void add_axis(py::array index, py::array const& target, py::ssize_t dimension) {
    if (index.size() == 0 && index.dtype().kind() == 'f') index = converted(index, py::str("int64"));  // of []
    if (index.dtype().kind() != 'i' && index.dtype().kind() != 'u') {
      throw argument_error(text::format(
          "add_at: index has elements of {}: pass integers, numpy.nonzero(mask) for a mask", words(index.dtype())));
    }
    rows_.emplace_back(std::move(index), &target);
    axes_.push_back(
        rows_.back().axis(target.shape(dimension), target.strides(dimension) / target.itemsize(), {"add_at", "index"}));
  }

  std::int64_t length_;
  py::tuple shape_;
  std::vector<row> rows_;
  std::vector<index_axis> axes_;
  index_bounds bounds_{};  ///< along the last axis
  std::unique_ptr<std::int64_t[]> positions_;
};

/// Throws TypeError where numpy does: the operation's result would lose more than precision in the array.
void require_cast(py::handle values, py::array const& target) {
  py::object const result = numpy("result_type", target, values);
  if (numpy("can_cast", result, target.dtype(), "same_kind").cast<bool>()) return;
  throw py::type_error(
      text::format("add_at: the operation gives {}, which numpy's rule same_kind does not convert to the {} "
                   "of array",
                   words(result), words(target.dtype())));
}

/// One value for all updates, or one for each, as elements of the target.
row values_of(py::object const& given, py::array const& target, py::tuple const& shape) {
  py::array found(numpy("asarray", given));
  // A number has no type of its own: 1 and 0.5 may be of any that holds them.
  bool const is_typed = py::isinstance<py::array>(given) || !is_number(given);
  require_cast(is_typed ? py::object(found) : given, target);
  found = converted(found, target.dtype());
  if (found.ndim() > 0) found = py::array(numpy("broadcast_to", found, shape));
  row all(std::move(found), &target);
  if (all.array.ndim() == 0) all.stride = 0;
  return all;
}

scatter_options options_of(py::object const& by, bool serial) {
  scatter_options made{.required = serial ? bits::serial : bits::same_on_all_ranks};
  if (by.is_none()) return made;
  constexpr std::array<std::pair<char const*, way>, 5> ways{{{"one_thread", way::one_thread},
                                                             {"owner_scan", way::owner_scan},
                                                             {"partition", way::partition},
                                                             {"private_copies", way::private_copies},
                                                             {"atomics", way::atomics}}};
  auto const name = words(by);
  for (auto const& [known, found] : ways) {
    if (name != known) continue;
    made.by = found;
    return made;
  }
  throw argument_error(
      text::format("add_at: way is {}; there are one_thread, owner_scan, partition, private_copies and atomics", name));
}

coset_operation operation_for(std::string const& name, py::array const& target) {
  coset_operation const found = operation_named(name);
  if (!has_loop(found)) {
    throw argument_error(text::format(
        "add_at: op is {}; there are plus, multiplies, minimum, maximum, bit_and, bit_or and bit_xor", name));
  }
  bool const is_whole = target.dtype().kind() != 'f' && target.dtype().kind() != 'c';
  bool const fits = is_whole || found == COSET_PLUS || found == COSET_MULTIPLIES ||
                    (target.dtype().kind() == 'f' && (found == COSET_MINIMUM || found == COSET_MAXIMUM));
  if (!fits)
    throw argument_error(text::format("add_at: op={} does not go with elements of {}", name, words(target.dtype())));
  return found;
}

rank_t threads_from(py::object const& threads, char const* function) {
  return threads.is_none() ? 0 : whole_number(threads, {function, "threads"}, 1, most_threads);
}

void add_at(py::object const& array, py::object const& index, py::object const& given, std::string const& op,
            py::object const& by, bool serial, py::object const& threads) {
  target to(array, {"add_at", "array"});
  py::array const& plain = to.plain();
  indices at(index, plain);
  row const values = values_of(given, plain, at.shape());
  scattered updates{.target = const_cast<void*>(plain.data()),
                    .length = static_cast<std::size_t>(plain.size()),
                    .type = element_type(plain, {"add_at", "array"}),
                    .operation = operation_for(op, plain),
                    .keys = {},
                    .values = values.array.data(),
                    .value_stride = values.stride / plain.itemsize(),
                    .count = at.count(),
                    .options = options_of(by, serial)};
  spare_team const with(updates.count, threads_from(threads, "add_at"));
  at.require_inside(with.get());
  without_gil([&] {
    updates.keys = at.keys(with.get());
    scatter(with.get(), updates);
  });
  to.finish();
}

/// One-dimensional, of whole numbers that fit 64 bits with a sign. Throws as numpy does.
row whole_numbers(py::object const& x) {
  py::array found(numpy("asarray", x));
  if (found.ndim() != 1)
    throw py::value_error(text::format("bincount: x has {} dimensions instead of 1", found.ndim()));
  if (found.size() == 0 || found.dtype().kind() == 'b') found = converted(found, py::str("int64"));
  if (!numpy("can_cast", found.dtype(), "int64", "safe").cast<bool>()) {
    throw py::type_error(text::format(
        "bincount: x has elements of {}, which numpy's rule safe does not convert to int64", words(found.dtype())));
  }
  return row(std::move(found));
}

/// Of doubles.
row weights_for(py::object const& given, std::size_t count) {
  py::array found(numpy("asarray", given));
  if (!numpy("can_cast", found.dtype(), "float64", "safe").cast<bool>()) {
    throw py::type_error(
        text::format("bincount: weights have elements of {}, which numpy's rule safe does not convert to "
                     "float64",
                     words(found.dtype())));
  }
  if (found.ndim() != 1 || static_cast<std::size_t>(found.size()) != count)
    throw py::value_error(text::format("bincount: {} weights for {} elements of x", found.size(), count));
  return row(converted(found, py::str("float64")));
}

py::array bincount(py::object const& x, py::object const& weights, py::ssize_t minlength, py::object const& threads) {
  if (minlength < 0) throw py::value_error(text::format("bincount: minlength is {}, which is negative", minlength));
  row const numbers = whole_numbers(x);
  std::size_t const count = numbers.count();
  row const weighted = weights.is_none() ? row() : weights_for(weights, count);
  spare_team const with(count, threads_from(threads, "bincount"));
  index_axis axis = numbers.axis(0, 1, {"bincount", "x"});
  index_bounds const found =
      count == 0 ? index_bounds{0, -1} : without_gil([&] { return bounds_of(with.get(), axis, count); });
  if (found.least < 0) throw py::value_error(text::format("bincount: x has a negative element, {}", found.least));
  if (found.greatest == std::numeric_limits<std::int64_t>::max())
    throw py::value_error(text::format("bincount: x has the element {}, and no array is so long", found.greatest));
  axis.length = std::max<std::int64_t>(found.greatest + 1, minlength);
  // numpy counts nothing as a whole number, with weights or not.
  bool const is_weighted = !weights.is_none() && count > 0;
  // Not zeros(): its pages are made when updates meet them, singly and in no order, which takes seven times as long as all
  // else; those of empty() are huge where the system has such.
  py::array counts(numpy("empty", axis.length, is_weighted ? "float64" : "int64"));
  void* const into = counts.mutable_data();
  auto const length = static_cast<std::size_t>(axis.length);
  without_gil([&] {
    static_assert(sizeof(double) == sizeof(std::int64_t));
    share_out(with.get(), length, [into](std::size_t begin, std::size_t end) {
      std::memset(static_cast<std::int64_t*>(into) + begin, 0, (end - begin) * sizeof(std::int64_t));
    });
    std::unique_ptr<std::int64_t[]> positions;
    update_keys keys = direct(axis, found);
    if (!is_direct(axis)) {
      positions = flattened(with.get(), {&axis, 1}, count);
      keys = {positions.get(), 1, axis.length, true, true};
    }
    if (!is_weighted) {
      python::count(with.get(), {static_cast<std::int64_t*>(into), length}, keys, count);
    } else {
      scatter(with.get(), {.target = into,
                           .length = length,
                           .type = COSET_FLOAT64,
                           .operation = COSET_PLUS,
                           .keys = keys,
                           .values = weighted.array.data(),
                           .value_stride = weighted.stride / 8,
                           .count = count,
                           .options = {.required = bits::serial}});
    }
  });
  return counts;
}

}  // namespace

void add_updates(py::module_& m) {
  m.def("add_at", &add_at, "array"_a, "index"_a, "values"_a, py::kw_only(), "op"_a = "plus", "way"_a = py::none(),
        "serial"_a = true, "threads"_a = py::none(),
        "array[index] = op(array[index], values) for one index after the other, as numpy.add.at does it: by several "
        "threads, "
        "without the GIL, with the bits of numpy's order. op: plus, multiplies, minimum, maximum, bit_and, bit_or, "
        "bit_xor. "
        "serial=False lets threads add in another order where that is faster. None of the arrays may be written to "
        "meanwhile.");
  m.def("bincount", &bincount, "x"_a, "weights"_a = py::none(), "minlength"_a = 0, py::kw_only(),
        "threads"_a = py::none(), "numpy.bincount() by several threads, without the GIL, with numpy's bits.");
}

}  // namespace coset::python
