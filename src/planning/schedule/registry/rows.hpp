// SPDX-License-Identifier: Apache-2.0
// Rows of the registry as tables have them: constants, of which a loop makes the rows. Made one by one, each would be half a
// kilobyte of code.
#pragma once

#include <initializer_list>
#include <span>

#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {

/// What parameter has.
struct parameter_text {
  char const *name, *default_value, *meaning;
  std::uint32_t least = parameter::no_number;
  bool passed_on = false;
};

/// Which verbs an algorithm serves by itself, of those that schedules are not derived for.
namespace served {
constexpr bool any(verb) { return true; }
constexpr bool reductions(verb what) { return !detail::is_scan(what); }
constexpr bool scans(verb what) { return detail::is_scan(what); }
constexpr bool of_whole_vectors(verb what) { return reductions(what) && !detail::is_of_pieces(what); }
constexpr bool for_all(verb what) { return detail::folds_for_all(what) || detail::is_barrier(what); }
/// Of a barrier there is nothing to cut.
constexpr bool in_blocks(verb what) { return reductions(what) && !detail::is_barrier(what); }
constexpr bool of_whole_vectors_in_blocks(verb what) { return of_whole_vectors(what) && !detail::is_barrier(what); }
}  // namespace served

/// What named_algorithm has. In a static constexpr table the lists live as long as it does.
struct algorithm_text {
  char const *name, *summary, *source;
  bool (*serves)(verb);
  std::initializer_list<parameter_text> parameters;
  schedule (*make)(algorithm const&, rank_t ranks, verb, rank_t root);
  least_steps least;
  folding_maker along = nullptr;
  std::initializer_list<trial> trials = {};
  char const* not_chosen = nullptr;
};

std::vector<named_algorithm> rows_of(std::span<algorithm_text const>);

}  // namespace coset::schedule
