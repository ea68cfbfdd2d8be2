// SPDX-License-Identifier: Apache-2.0
// Loops for each type and operation.
#include "bindings/python/updates/scatter.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <concepts>
#include <cstdint>
#include <span>

#include "base/text/format.hpp"
#include "bindings/python/updates/loops.hpp"
#include "coset/operations.hpp"

namespace coset::python {
namespace {

template <class T, class Op, class Keys>
void scatter_by(team* with, scattered const& of, Op op, Keys keys) {
  update(with, std::span(static_cast<T*>(of.target), of.length), op, keys,
         strided_values<T>{static_cast<T const*>(of.values), of.value_stride}, of.count, of.options);
}

using plain_keys = detail::read_from<std::int64_t>;
plain_keys plain(update_keys const& keys) { return {static_cast<std::int64_t const*>(keys.first)}; }

/// An operation that is chosen at run time: a question per update, and a loop per type instead of one per type and
/// operation. Sums, which most calls want, have loops of their own.
struct any_operation {
  coset_operation which;

  template <class T>
  T operator()(T const& a, T const& b) const {
    constexpr bool is_ordered = detail::ordered_number<T>;
    if (which == COSET_MULTIPLIES) return multiplies()(a, b);
    if constexpr (is_ordered) {
      if (which == COSET_MINIMUM) return minimum()(a, b);
      if (which == COSET_MAXIMUM) return maximum()(a, b);
    }
    if constexpr (std::integral<T>) {
      if (which == COSET_BIT_AND) return bit_and()(a, b);
      if (which == COSET_BIT_OR) return bit_or()(a, b);
      if (which == COSET_BIT_XOR) return bit_xor()(a, b);
    }
    return plus()(a, b);  // see has_loop()
  }
};

template <class T>
void scatter_any(team* with, scattered const& of) {
  scatter_by<T>(with, of, any_operation{of.operation}, of.keys);
}

/// Of integers of 4 and 8 bytes without their signs, which sums do not see.
template <class T, class Bare = T>
void scatter_most(team* with, scattered const& of) {
  if (of.operation != COSET_PLUS) return scatter_any<T>(with, of);
  if (of.keys.is_plain) return scatter_by<Bare>(with, of, plus(), plain(of.keys));
  scatter_by<Bare>(with, of, plus(), of.keys);
}

/// As numpy has it, a sum of bools tells whether there is a true one, and a product whether all are.
coset_operation of_bools(coset_operation operation) {
  switch (operation) {
    case COSET_PLUS:
    case COSET_MAXIMUM:
      return COSET_BIT_OR;
    case COSET_MULTIPLIES:
    case COSET_MINIMUM:
      return COSET_BIT_AND;
    default:
      return operation;
  }
}

}  // namespace

bool has_loop(coset_operation operation) {
  constexpr std::array all{COSET_PLUS,    COSET_MULTIPLIES, COSET_MINIMUM, COSET_MAXIMUM,
                           COSET_BIT_AND, COSET_BIT_OR,     COSET_BIT_XOR};
  return std::ranges::find(all, operation) != all.end();
}

void scatter(team* with, scattered const& of) {
  switch (of.type) {
    case COSET_INT8:
      return scatter_any<std::int8_t>(with, of);
    case COSET_INT16:
      return scatter_any<std::int16_t>(with, of);
    case COSET_INT32:
      return scatter_most<std::int32_t, std::uint32_t>(with, of);
    case COSET_INT64:
      return scatter_most<std::int64_t, std::uint64_t>(with, of);
    case COSET_UINT8:
      return scatter_any<std::uint8_t>(with, of);
    case COSET_UINT16:
      return scatter_any<std::uint16_t>(with, of);
    case COSET_UINT32:
      return scatter_most<std::uint32_t>(with, of);
    case COSET_UINT64:
      return scatter_most<std::uint64_t>(with, of);
    case COSET_FLOAT16:
      return scatter_any<float16>(with, of);
    case COSET_FLOAT32:
      return scatter_most<float>(with, of);
    case COSET_FLOAT64:
      return scatter_most<double>(with, of);
    case COSET_COMPLEX64:
      return scatter_most<std::complex<float>>(with, of);
    case COSET_COMPLEX128:
      return scatter_most<std::complex<double>>(with, of);
    case COSET_BOOL: {
      scattered bytes = of;
      bytes.operation = of_bools(of.operation);
      return scatter_any<std::uint8_t>(with, bytes);
    }
    default:
      throw argument_error(text::format("add_at: there is no loop for elements of type {}", of.type));
  }
}

void count(team* with, std::span<std::int64_t> target, update_keys const& keys, std::size_t updates) {
  if (keys.is_plain) return update(with, target, plus(), plain(keys), detail::count_one(), updates, {});
  update(with, target, plus(), keys, detail::count_one(), updates, {});
}

}  // namespace coset::python
