// SPDX-License-Identifier: Apache-2.0
// Maps (operation, element type) to the type-erased reduction that programs run.
#pragma once

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <typeinfo>

#include "coset/detail/fold.hpp"
#include "coset/detail/standard_parts.hpp"
#include "coset/detail/visibility.h"
#include "coset/operations.hpp"

namespace coset::inline COSET_ABI::detail {

/// What a fold computes with, and so which control words decide its bits; of several, the least holds for all.
enum class arithmetic : std::uint8_t {
  any,             ///< the caller's code, which may use long double
  floating_point,  ///< kernels, which do not
  integer          ///< or nothing: values are moved
};

/// Folds as code that runs somewhere.
struct fold_code {
  /// No state, never throws, no stricter alignment than malloc()'s: code outside the ranks can fold arrays at any
  /// address.
  bool standalone = false;
  arithmetic computes = arithmetic::any;
};

/// A reduction without its types.
struct reduction_table {
  fold_set const* folds = nullptr;
  fold_set const* streaming_folds = nullptr;  ///< the same with stores that bypass the caches; may be null
  mixed_fold_function mixed = nullptr;        ///< only if partial results are wider than elements
  std::size_t element_bytes = 1;
  std::size_t partial_bytes = 1;
  std::string_view type;  ///< names for messages
  std::string_view operation;
  std::uint64_t hash = 0;  ///< of the types' linkage names: equal on all ranks and processes that use the same types
  bool exact = false;      ///< bracketing cannot change the bits of a result
  bool commutative = true;
  bool idempotent = false;  ///< contributions may count twice
  fold_code code = {};
};

/// The operations and elements that have vectorised kernels.
enum class built_in_operation : std::uint8_t {
  plus,
  multiplies,
  minimum,
  maximum,
  bit_and,
  bit_or,
  bit_xor,
  reproducible_plus
};
enum class built_in_element : std::uint8_t {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,
  complex128
};

/// Whether there is a kernel for the combination; a plain loop folds the others.
constexpr bool has_kernel(built_in_operation op, built_in_element type) {
  using enum built_in_operation;
  using enum built_in_element;
  bool const is_float = type == float32 || type == float64;
  bool const is_integer = type <= uint64;
  bool const is_complex = type == complex64 || type == complex128;
  switch (op) {
    case plus:
      return true;
    case multiplies:
      return !is_complex && type != int8 && type != uint8 && type != int16 && type != uint16;
    case minimum:
    case maximum:
      return !is_complex;
    case reproducible_plus:
      return is_float;
    case bit_and:
    case bit_or:
    case bit_xor:
      return is_integer;
  }
  return false;
}

/// The size of a partial result: a float for sums and products of 16-bit floats, a binned_sum for reproducible sums,
/// otherwise an element.
template <class T, class Op>
constexpr std::size_t partial_bytes() {
  if (half_float<T> && is_one_of<Op, plus, multiplies>) return sizeof(float);
  return is_one_of<Op, reproducible_plus> ? sizeof(binned_sum) : sizeof(T);
}

/// The folds of a combination that has a kernel. The second may be null; the third is null unless partial results are
/// wider than elements. All throw argument_error if COSET_ISA is wrong.
COSET_API fold_set const& built_in_folds(built_in_operation, built_in_element);
COSET_API fold_set const* built_in_streaming_folds(built_in_operation, built_in_element);
COSET_API mixed_fold_function built_in_mixed_fold(built_in_operation, built_in_element);

constexpr std::uint64_t hash_of(std::string_view text, std::uint64_t seed = 0xcbf29ce484222325u) {
  for (char const c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return seed;
}

/// The type's name as the compiler spells it, taken from the name of this function.
template <class T>
constexpr std::string_view spelled_name_of() {
  std::string_view const all = __PRETTY_FUNCTION__;
  std::size_t const begin = all.find("T = ") + 4;
  std::string_view const name = all.substr(begin, all.rfind(']') - begin);
  return name.substr(0, name.find("; std::string_view"));
}

template <std::size_t Longest>
struct short_name {
  std::array<char, Longest> text = {};
  std::size_t length = 0;
};
/// The same without the inline namespace, which g++ spells.
template <class T>
COSET_PER_COPY inline constexpr auto short_name_of = [] {
  constexpr std::string_view spelled = spelled_name_of<T>(), left_out = COSET_ABI_TEXT "::";
  short_name<spelled.size()> name;
  for (std::size_t at = 0; at < spelled.size(); ++at) {
    while (spelled.substr(at).starts_with(left_out)) at += left_out.size();
    name.text[name.length++] = spelled[at];
  }
  return name;
}();

/// Only for messages: lambdas of one function may share a name.
template <class T>
constexpr std::string_view name_of() {
  return {short_name_of<T>.text.data(), short_name_of<T>.length};
}

template <class Op>
constexpr int built_in_operation_of = std::same_as<Op, plus>                ? int(built_in_operation::plus)
                                      : std::same_as<Op, multiplies>        ? int(built_in_operation::multiplies)
                                      : std::same_as<Op, minimum>           ? int(built_in_operation::minimum)
                                      : std::same_as<Op, maximum>           ? int(built_in_operation::maximum)
                                      : std::same_as<Op, bit_and>           ? int(built_in_operation::bit_and)
                                      : std::same_as<Op, bit_or>            ? int(built_in_operation::bit_or)
                                      : std::same_as<Op, bit_xor>           ? int(built_in_operation::bit_xor)
                                      : std::same_as<Op, reproducible_plus> ? int(built_in_operation::reproducible_plus)
                                                                            : -1;

/// 0, 1, 2, 3 for 1, 2, 4, 8 bytes.
template <class T>
constexpr int log2_bytes = sizeof(T) == 1   ? 0
                           : sizeof(T) == 2 ? 1
                           : sizeof(T) == 4 ? 2
                                            : 3;

template <class T>
constexpr int built_in_element_of =
    std::same_as<T, float>                  ? int(built_in_element::float32)
    : std::same_as<T, double>               ? int(built_in_element::float64)
    : std::same_as<T, float16>              ? int(built_in_element::float16)
    : std::same_as<T, bfloat16>             ? int(built_in_element::bfloat16)
    : std::same_as<T, std::complex<float>>  ? int(built_in_element::complex64)
    : std::same_as<T, std::complex<double>> ? int(built_in_element::complex128)
    : std::same_as<T, bool> || !std::integral<T> || sizeof(T) > 8
        ? -1
        : int(std::is_signed_v<T> ? built_in_element::int8 : built_in_element::uint8) + log2_bytes<T>;

template <class T, class Op>
constexpr bool is_built_in = [] {
  if constexpr (built_in_operation_of<Op> < 0 || built_in_element_of<T> < 0) {
    return false;
  } else {
    return has_kernel(built_in_operation(built_in_operation_of<Op>), built_in_element(built_in_element_of<T>));
  }
}();

/// Plain folds work tile by tile, so that compilers can vectorise the loop over a source.
COSET_PER_COPY inline constexpr std::size_t tile_bytes = 2048;

/// Folds by an operation without a kernel: plain loops, compiled where the operation is visible.
///
/// A destination may be a source that is folded later, so a tile is folded completely before it is stored.
template <class T, class Op>
void plain_fold(void const* context, void* const* to, std::uint32_t destinations, void const* const* from,
                std::uint32_t sources, std::size_t count) {
  Op const& op = *static_cast<Op const*>(context);
  constexpr std::size_t longest = sizeof(T) < tile_bytes ? tile_bytes / sizeof(T) : 1;
  alignas(T) std::byte storage[longest * sizeof(T)];  // T need not have a default
  T* const tile = reinterpret_cast<T*>(storage);
  for (std::size_t done = 0; done < count; done += longest) {
    std::size_t const length = count - done < longest ? count - done : longest;
    std::memcpy(storage, static_cast<T const*>(from[0]) + done, length * sizeof(T));
    for (std::uint32_t s = 1; s < sources; ++s) {
      T const* const next = static_cast<T const*>(from[s]) + done;
      for (std::size_t i = 0; i < length; ++i) tile[i] = static_cast<T>(op(tile[i], next[i]));
    }
    for (std::uint32_t d = 0; d < destinations; ++d)
      std::memcpy(static_cast<T*>(to[d]) + done, storage, length * sizeof(T));
  }
}

template <class T, class Op>
COSET_PER_COPY inline constexpr fold_set plain_folds = [] {
  fold_set set{};
  set.any = plain_fold<T, Op>;
  set.of.fill(plain_fold<T, Op>);
  return set;
}();

/// glibc copies by strings of bytes what is shorter than the own cache, and else by vectors, which take more than twice as long where
/// others have read what is overwritten: 159 us for 1 MiB between two far cores of Zen 5, 69 in such pieces. What exceeds all caches it
/// stores past them, and shall.
inline constexpr std::size_t copied_at_once = 256 * 1024, longest_in_caches = 2 * 1024 * 1024;

inline void copy_bytes(void* to, void const* from, std::size_t bytes) noexcept {
  std::size_t const most = bytes <= longest_in_caches ? copied_at_once : bytes;
  for (std::size_t at = 0; at < bytes; at += most)
    std::memcpy(static_cast<std::byte*>(to) + at, static_cast<std::byte const*>(from) + at, std::min(most, bytes - at));
}

/// Copies one source to any number of destinations. A source that is also the second of two destinations is written all the same,
/// tile by tile: its lines shall belong to the rank that copies, see `policy::returns`.
template <std::size_t ElementBytes>
void copy_fold(void const*, void* const* to, std::uint32_t destinations, void const* const* from, std::uint32_t,
               std::size_t count) {
  std::size_t const bytes = count * ElementBytes;
  if (destinations != 2 || to[1] != from[0]) {
    for (std::uint32_t d = 0; d < destinations; ++d)
      if (to[d] != from[0]) copy_bytes(to[d], from[0], bytes);
    return;
  }
  auto* const out = static_cast<std::byte*>(to[0]);
  auto* const back = static_cast<std::byte*>(to[1]);
  for (std::size_t at = 0; at < bytes; at += tile_bytes) {
    std::size_t const length = std::min(tile_bytes, bytes - at);
    std::memcpy(out + at, back + at, length);
    std::memcpy(back + at, out + at, length);
  }
}

template <std::size_t ElementBytes>
COSET_PER_COPY inline constexpr fold_set copy_folds = [] {
  fold_set set{};
  set.any = copy_fold<ElementBytes>;
  set.of.fill(copy_fold<ElementBytes>);
  return set;
}();

inline reduction_table copying(fold_set const& folds, std::size_t element_bytes, std::type_info const& type,
                               std::string_view type_name) {
  return {.folds = &folds,
          .element_bytes = element_bytes,
          .partial_bytes = element_bytes,
          .type = type_name,
          .operation = "copy",
          .hash = hash_of(type.name()),
          .exact = true,
          .code = {.computes = arithmetic::integer}};
}

/// Calls it while no thread of the process forks.
COSET_API void while_no_thread_forks(void (*call)());

/// The table that Make makes, at the first call. Not as a static variable alone: a child that is forked while another thread makes
/// that would wait for ever.
template <class Make>
COSET_PER_COPY reduction_table const& made_once(Make) {
  static constinit std::atomic<reduction_table const*> known = nullptr;
  if (auto const* const made = known.load(std::memory_order_acquire)) [[likely]]
    return *made;
  while_no_thread_forks([] {
    static reduction_table const table = Make()();
    known.store(&table, std::memory_order_release);  // partner: above
  });
  return *known.load(std::memory_order_relaxed);
}

/// The table of verbs that combine nothing. Made by a call, and so as a whole: of a list, g++ would lay the constants into
/// the file and store the rest when it is first used; clang++ stores all. Where a program of the one is linked with a library
/// of the other, one definition serves both.
template <class T>
COSET_PER_COPY reduction_table const& copy_of() {
  return made_once([] { return copying(copy_folds<sizeof(T)>, sizeof(T), typeid(T), name_of<T>()); });
}

/// All that a table is made of, known to the compiler: making it is code that all types and operations share.
struct table_description {
  reduction_table made;  ///< as far as it is known
  std::type_info const *type, *operation;
  bool built_in;
  built_in_operation operation_with_kernel = {};
  built_in_element element_with_kernel = {};
};

inline reduction_table table_from(table_description const& of) {
  reduction_table made = of.made;
  if (of.built_in) {
    made.folds = &built_in_folds(of.operation_with_kernel, of.element_with_kernel);
    made.streaming_folds = built_in_streaming_folds(of.operation_with_kernel, of.element_with_kernel);
    made.mixed = built_in_mixed_fold(of.operation_with_kernel, of.element_with_kernel);
  }
  made.hash = hash_of(of.operation->name(), hash_of(of.type->name()));
  return made;
}

template <class T, class Op>
constexpr table_description describe_table() {
  reduction_table made;
  made.partial_bytes = made.element_bytes = sizeof(T);
  made.type = name_of<T>();
  made.operation = name_of<Op>();
  made.exact = is_exact<Op, T>;
  made.commutative = is_commutative<Op>;
  made.idempotent = is_idempotent<Op, T>;
  constexpr bool never_throws = is_built_in<T, Op> || std::is_nothrow_invocable_v<Op const&, T const&, T const&>;
  made.code.standalone = never_throws && std::is_empty_v<Op> && alignof(T) <= alignof(std::max_align_t);
  if constexpr (is_built_in<T, Op>) {
    made.partial_bytes = partial_bytes<T, Op>();
    made.code.computes = std::integral<T> ? arithmetic::integer : arithmetic::floating_point;
    return {made,
            &typeid(T),
            &typeid(Op),
            true,
            built_in_operation(built_in_operation_of<Op>),
            built_in_element(built_in_element_of<T>)};
  } else {
    made.folds = &plain_folds<T, Op>;
    return {made, &typeid(T), &typeid(Op), false};
  }
}

/// The table of one (operation, type); made once.
template <class T, class Op>
COSET_PER_COPY reduction_table const& table_of() {
  return made_once([] {
    static constexpr table_description description = describe_table<T, Op>();
    return table_from(description);
  });
}

}  // namespace coset::detail
