// SPDX-License-Identifier: Apache-2.0
// What a thread of a sparse reducer writes to.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "coset/detail/private_copy.hpp"
#include "coset/detail/standard_parts.hpp"
#include "coset/identity.hpp"
#include "coset/operations.hpp"
#include "coset/updates/log.hpp"

namespace coset::inline COSET_ABI {

namespace detail {

/// Into an array without its length, by an operation that somebody else keeps.
template <class T, class Op>
struct elements_by {
  T* into;
  Op const* op;

  void apply(std::size_t index, T const& value) const { into[index] = static_cast<T>((*op)(into[index], value)); }
};

/// Reproducible sums are exact as whole copies only.
template <class T, class Op>
constexpr update_code update_code_of() {
  using log = update_log<T>;
  if constexpr (!log::is_possible || std::same_as<typename bare<Op>::type, reproducible_plus>) {
    return {};
  } else {
    return {log::record_bytes,
            [](void const* operation, update_chunks const& from, std::size_t part, unsigned shift, void* into) {
              log::apply_part(from, part, shift,
                              elements_by<T, Op>{static_cast<T*>(into), static_cast<Op const*>(operation)});
            }};
  }
}

/// What is subtracted is added with the other sign, which is the same thing.
template <class T>
constexpr T negated(T const& value) {
  if constexpr (std::integral<T>) {
    return static_cast<T>(wrapping<T>{} - static_cast<wrapping<T>>(value));
  } else {
    return static_cast<T>(-value);
  }
}

}  // namespace detail

template <class T, class Op>
class sparse_array;

/// An element of a sparse_array: it can be reduced into, and not be read.
template <class T, class Op>
class sparse_element {
  using operation = typename detail::bare<Op>::type;
  static constexpr bool adds = detail::is_one_of<operation, plus, reproducible_plus>;

 public:
  sparse_element(sparse_array<T, Op> const& of, std::size_t index) noexcept : of_(of), index_(index) {}
  sparse_element(sparse_element const&) = default;
  sparse_element& operator=(sparse_element const&) = delete;

  /// element = op(element, value).
  void reduce(T const& value) const { of_.reduce(index_, value); }

  void operator+=(T const& value) const requires adds { reduce(value); }
  void operator-=(T const& value) const requires adds { reduce(detail::negated(value)); }
  void operator++() const requires(adds&& detail::any_number<T>) { reduce(detail::number<T>(1)); }
  void operator++(int) const requires(adds&& detail::any_number<T>) { reduce(detail::number<T>(1)); }
  void operator--() const requires(adds&& detail::any_number<T>) { *this -= detail::number<T>(1); }
  void operator--(int) const requires(adds&& detail::any_number<T>) { *this -= detail::number<T>(1); }
  void operator*=(T const& value) const requires std::same_as<operation, multiplies> { reduce(value); }
  void operator&=(T const& value) const requires std::same_as<operation, bit_and> { reduce(value); }
  void operator|=(T const& value) const requires std::same_as<operation, bit_or> { reduce(value); }
  void operator^=(T const& value) const requires std::same_as<operation, bit_xor> { reduce(value); }

 private:
  sparse_array<T, Op> const& of_;
  std::size_t index_;
};

/// One thread's private array of a sparse reducer: a few words, held by value.
///
/// Valid until the reducer is reset; call local() again then. Only for the thread that got it, or for the current user
/// of the number.
template <class T, class Op = plus>
class sparse_array {
 public:
  sparse_array(detail::reducer_core& of, detail::private_copy& copy, std::size_t size)
      : access_(detail::access_of(of, copy)),
        size_(size),
        op_(static_cast<Op const*>(detail::operation_of(of))),
        of_(&of),
        copy_(&copy) {}

  std::size_t size() const noexcept { return size_; }

  /// `mine[k] += x` for sums, `*=`, `&=`, `|=` and `^=` for these operations, `mine[k].reduce(x)` for all.
  sparse_element<T, Op> operator[](std::size_t index) const noexcept { return {*this, index}; }

  /// Element `index` = op(element, value). Cost: if updates are kept, some ten instructions, and once in a page of updates a
  /// function call; otherwise an array access and two bytes stored, and one byte read if blocks are filled late: under a memory
  /// limit, or if the identity is not zero. Throws std::bad_alloc, and what the operation throws.
  void reduce(std::size_t index, T const& value) const {
    if constexpr (detail::update_log<T>::is_possible) {
      if (access_.keeps_updates) return keep(index, value);
    }
    std::size_t const block = index >> access_.shift;
    if (access_.fills_late && access_.touched[block] == detail::mark::untouched) [[unlikely]]
      detail::touch(*of_, *copy_, block);
    access_.touched[block] = access_.groups[block >> detail::group_shift] = detail::mark::touched;
    T& element = reinterpret_cast<T*>(access_.at)[index];
    element = static_cast<T>((*op_)(element, value));
  }

  /// Elements [first, first + count), to read and write as an array: what this thread has reduced into them so far. Touches all
  /// their blocks. The reducer's threads keep no updates any more: this one from now on, the others after the next combination.
  /// With sparse_options::most_bytes valid until the next call of operator[], reduce() or span(), and what the thread has
  /// reduced before may be elsewhere. Throws argument_error for elements beyond the array.
  std::span<T> span(std::size_t first, std::size_t count) const {
    T* const begin = reinterpret_cast<T*>(detail::elements_of(*of_, *copy_, first, count));
    if (access_.keeps_updates) access_ = detail::access_of(*of_, *copy_);
    return {begin, count};
  }
  std::span<T> span() const { return span(0, size_); }

 private:
  void keep(std::size_t index, T const& value) const {
    using log = detail::update_log<T>;
    std::size_t const part = index >> access_.shift;
    std::byte* at = access_.ends[part];
    if (detail::update_chunks::room_behind(at) < log::record_bytes) [[unlikely]]
      at = detail::next_chunk(*of_, *copy_, part);
    access_.ends[part] = log::put(at, static_cast<std::uint32_t>(index - (part << access_.shift)), value);
  }

  mutable detail::sparse_access access_;  ///< changes when plain memory is asked for
  std::size_t size_;
  Op const* op_;
  detail::reducer_core* of_;
  detail::private_copy* copy_;
};

}  // namespace coset
