// SPDX-License-Identifier: Apache-2.0
// Which calls are the same to a plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "coset/detail/collective.hpp"
#include "coset/plan.hpp"
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

/// What ranks have to agree on for this call, where the library chooses its plan.
inline signature signature_of(detail::call const& c) {
  return {c.what, c.reduction, c.count, c.root, in_place(c), 0, counts_hash(c.counts)};
}

/// The key of a plan.
struct shape {
  detail::reduction_table const* reduction = nullptr;
  std::size_t count = 0;
  verb what{};
  bool in_place = false;
  rank_t root = 0;
  std::uint64_t rest = 0;  ///< hash of what few calls have: counts of pieces, and what a plan object asks for
  friend bool operator==(shape const&, shape const&) = default;

  static shape of(detail::call const& c) {
    return {c.reduction, c.count, c.what, planning::in_place(c), c.root, counts_hash(c.counts)};
  }
  /// Of a plan object that asks for its plan by these options.
  static shape of(detail::call const& c, plan_options const& options) {
    shape made = of(c);
    std::uint64_t const named = detail::hash_of(options.storage, detail::hash_of(options.algorithm + '/'));
    made.rest = mixed(mixed(mixed(made.rest, named), options.segment_bytes), std::uint64_t(options.required)) | 1;
    return made;
  }
  std::size_t hash() const noexcept {
    return ((count ^ reinterpret_cast<std::uintptr_t>(reduction) >> 4) * 32 + root) * 32 + std::size_t(what) * 2 +
           std::size_t{in_place} + rest;
  }
};

struct shape_hash {
  std::size_t operator()(shape const& s) const noexcept { return s.hash(); }
};

}  // namespace coset::planning
