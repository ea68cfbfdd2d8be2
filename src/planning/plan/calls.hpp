// SPDX-License-Identifier: Apache-2.0
// Which calls are the same to a plan.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "coset/detail/collective.hpp"
#include "planning/plan/signature.hpp"

namespace coset::planning {

/// Verbs that have one program for input and output in one array or apart.
constexpr bool in_place_always(verb what) { return detail::row_of(what).in_place == detail::same_array::alike; }
/// Whether `in` and `out` of a call are one array to its plan.
inline bool in_place(detail::call const& c) {
  if (detail::row_of(c.what).in_place == detail::same_array::of_root) return false;
  return in_place_always(c.what) || (c.in == c.out && c.count > 0 && c.out != nullptr);
}

inline std::uint64_t counts_hash(std::span<std::size_t const> counts) {
  std::uint64_t h = 0;
  for (std::size_t c : counts) h = mixed(h + 1, c);
  return counts.empty() ? 0 : h | 1;
}

/// What a plan is looked up by.
struct plan_key {
  detail::reduction_table const* reduction = nullptr;
  std::size_t count = 0;
  verb what{};
  bool in_place = false;
  rank_t root = 0;
  std::uint64_t counts = 0;  ///< hash
  friend bool operator==(plan_key const&, plan_key const&) = default;
  /// Any order. Addresses of different objects have none but as numbers.
  friend auto operator<=>(plan_key const& a, plan_key const& b) { return a.as_numbers() <=> b.as_numbers(); }

  static plan_key of(detail::call const& c) {
    return {c.reduction, c.count, c.what, planning::in_place(c), c.root, counts_hash(c.counts)};
  }
  std::tuple<std::uintptr_t, std::size_t, verb, bool, rank_t, std::uint64_t> as_numbers() const noexcept {
    return {reinterpret_cast<std::uintptr_t>(reduction), count, what, in_place, root, counts};
  }
  std::size_t hash() const noexcept {
    return ((count ^ reinterpret_cast<std::uintptr_t>(reduction) >> 4) * 32 + root) * 32 + std::size_t(what) * 2 +
           std::size_t{in_place} + counts;
  }
};

struct plan_key_hash {
  std::size_t operator()(plan_key const& k) const noexcept { return k.hash(); }
};

}  // namespace coset::planning
