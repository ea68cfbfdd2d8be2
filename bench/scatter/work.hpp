// SPDX-License-Identifier: Apache-2.0
// The loop of a cell: its keys and values, its target, and what the target must be after so many steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "bench/scatter/cells.hpp"

namespace coset::measure {

/// One step: target[key(u)] += value(u) for all updates u. Values are small integers, so that sums are exact in any order,
/// and all steps are the same, so that the target after k of them is known.
template <class T>
class scatter_work {
 public:
  static constexpr bool counts = std::is_integral_v<T>;

  scatter_work(cell const&, std::size_t threads);

  cell const& shape() const { return shape_; }
  std::size_t updates() const { return keys_.size(); }
  std::size_t length() const { return target_.size(); }
  std::uint32_t const* keys() const { return keys_.data(); }
  std::span<std::uint32_t const> all_keys() const { return keys_; }
  std::span<T const> all_values() const { return values_; }
  /// Of double; counts have none, and are one.
  T const* values() const { return values_.data(); }
  T* target() { return target_.data(); }
  std::span<T> all() { return target_; }

  /// Elements that are not what all steps so far make, these included. If there are such, the target begins anew.
  /// Of a thinly touched target those that are touched are looked at.
  std::size_t wrong_after(std::size_t steps);
  /// The same for all elements.
  std::size_t wrong_anywhere() const;

 private:
  T right(std::size_t element) const { return static_cast<T>(once_[element] * static_cast<T>(steps_)); }

  cell shape_;
  std::vector<std::uint32_t> keys_;
  std::vector<T> values_, target_, once_;
  std::size_t steps_ = 0;
};

/// value(u), which costs nothing where updates count.
template <class T>
struct value_reader {
  explicit value_reader(scatter_work<T> const& of) : from(of.values()) {}
  T operator[](std::size_t u) const {
    if constexpr (scatter_work<T>::counts) {
      return 1;
    } else {
      return from[u];
    }
  }
  T const* from;
};

}  // namespace coset::measure
