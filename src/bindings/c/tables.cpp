// SPDX-License-Identifier: Apache-2.0
#include "bindings/c/tables.hpp"

#include <array>
#include <complex>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text/format.hpp"
#include "coset/error.hpp"
#include "coset/identity.hpp"
#include "verbs/values.hpp"

namespace coset::capi {
namespace {

using detail::is_one_of;
using detail::reduction_table;

template <class T>
constexpr bool is_real = detail::ordered_number<T> && !std::same_as<T, bool>;
template <class T>
constexpr bool is_complex = is_one_of<T, std::complex<float>, std::complex<double>>;

/// Whether reducing T with Op makes sense.
template <class T, class Op>
constexpr bool goes_together = [] {
  if (is_one_of<Op, plus, multiplies>) return is_real<T> || is_complex<T>;
  if (is_one_of<Op, minimum, maximum>) return is_real<T>;
  if (is_one_of<Op, bit_and, bit_or, bit_xor>) return is_real<T> && std::integral<T>;
  if (is_one_of<Op, logical_and, logical_or, logical_xor>) return is_real<T> || std::same_as<T, bool>;
  if (is_one_of<Op, minimum_location, maximum_location>) return detail::is_located<T>;
  return is_one_of<T, float, double>;
}();

/// The context of folds of a built-in operation.
template <class Op>
constexpr Op stateless{};

/// Tables are made at first use: they depend on the instruction set.
using table_function = reduction_table const& (*)();

template <class T, class Op>
constexpr table_function table_if_any() {
  if constexpr (goes_together<T, Op>) return detail::table_of<T, Op>;
  return nullptr;
}

template <class T, class Op>
constexpr T identity = coset::identity_of<T, Op>();

template <class T, class Op>
constexpr void const* identity_if_any() {
  if constexpr (goes_together<T, Op>) return &identity<T, Op>;
  return nullptr;
}

struct known_type {
  std::size_t bytes;
  table_function copy;
};

constexpr auto all_types = values::elements.applied([]<class... T>() {
  return std::array{known_type{sizeof(T), detail::copy_of<T>}...};
});

/// Of one element with each operation.
template <class T>
constexpr auto tables_of = values::operations.applied([]<class... Op>() {
  return std::array{table_if_any<T, Op>()...};
});
template <class T>
constexpr auto identities_of = values::operations.applied([]<class... Op>() {
  return std::array{identity_if_any<T, Op>()...};
});

constexpr auto all_tables = values::elements.applied([]<class... T>() { return std::array{tables_of<T>...}; });
constexpr auto all_identities = values::elements.applied([]<class... T>() { return std::array{identities_of<T>...}; });
constexpr auto contexts =
    values::operations.applied([]<class... Op>() { return std::array<void const*, sizeof...(Op)>{&stateless<Op>...}; });

constexpr coset_operation first_operation = values::first_operation,
                          last_operation = first_operation + values::operations.size - 1;
/// Smaller numbers are never addresses.
constexpr coset_operation first_address = 4096;

bool is_struct(coset_type type) {
  return type > COSET_STRUCT_BASE && static_cast<std::size_t>(type - COSET_STRUCT_BASE) <= most_struct_bytes;
}

bool is_built_in(coset_operation op) { return op >= first_operation && op <= last_operation; }

/// The known type, or nullptr for one of the caller's own.
known_type const* find(coset_type type) {
  if (type >= 1 && static_cast<std::size_t>(type) <= all_types.size())
    return &all_types[static_cast<std::size_t>(type - 1)];
  if (!is_struct(type)) throw argument_error(text::format("there is no element type {}", type));
  return nullptr;
}

/// "COSET_FLOAT32" of "float32".
std::string in_c(std::string_view name) {
  std::string text = "COSET_";
  for (char const c : name) text += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

/// "COSET_FLOAT32", "COSET_STRUCT(24)".
std::string name_of(coset_type type) {
  if (find(type) == nullptr) return text::format("COSET_STRUCT({})", bytes_of(type));
  return in_c(values::elements.names[static_cast<std::size_t>(type - values::first_element)]);
}

/// nullptr if the two do not go together.
table_function built_in_table(coset_type type, coset_operation op) {
  if (find(type) == nullptr) return nullptr;
  return all_tables[static_cast<std::size_t>(type - 1)][static_cast<std::size_t>(op - first_operation)];
}

}  // namespace

std::size_t bytes_of(coset_type type) {
  known_type const* const known = find(type);
  return known != nullptr ? known->bytes : static_cast<std::size_t>(type - COSET_STRUCT_BASE);
}

operation_handle const* handle_of(coset_operation op) {
  if (is_built_in(op)) return nullptr;
  if (op < first_address) throw argument_error(text::format("there is no operation {}", op));
  return reinterpret_cast<operation_handle const*>(op);
}

reduction reduction_of(coset_type type, coset_operation op) {
  std::size_t const bytes = bytes_of(type);
  operation_handle const* const handle = handle_of(op);
  if (handle == nullptr) {
    auto const at = static_cast<std::size_t>(op - first_operation);
    if (table_function const table = built_in_table(type, op)) return {&table(), contexts[at]};
    throw argument_error(
        text::format("{} does not reduce elements of type {}", in_c(values::operations.names[at]), name_of(type)));
  }
  user_operation const& made = **handle;
  if (made.element_bytes == bytes) return {made.table, &made, handle};
  throw argument_error(text::format("operation {} is for elements of {} bytes, {} has {}", made.table->operation,
                                    made.element_bytes, name_of(type), bytes));
}

void const* identity_of(coset_type type, coset_operation op) {
  if (!is_built_in(op) || find(type) == nullptr) return nullptr;
  return all_identities[static_cast<std::size_t>(type - 1)][static_cast<std::size_t>(op - first_operation)];
}

reduction copy_of(coset_type type, std::size_t& unit) {
  known_type const* const known = find(type);
  unit = known != nullptr ? 1 : bytes_of(type);
  return {known != nullptr ? &known->copy() : &detail::copy_of<std::byte>(), nullptr};
}

}  // namespace coset::capi
