// SPDX-License-Identifier: Apache-2.0
// Rows of the registry as tables have them: constants, of which a loop makes the rows. Made one by one, each would be half a
// kilobyte of code.
#pragma once

#include <initializer_list>
#include <span>

#include "schedule/registry/algorithm.hpp"

namespace coset::schedule {

/// What parameter has.
struct parameter_text {
  char const *name, *default_value, *meaning;
  bool passed_on = false;
};

/// What named_algorithm has. In a static constexpr table the lists live as long as it does.
struct algorithm_text {
  char const *name, *summary, *source;
  std::initializer_list<verb> verbs;
  std::initializer_list<parameter_text> parameters;
  schedule (*make)(algorithm const&, rank_t ranks, verb, rank_t root);
  least_steps least;
};

std::vector<named_algorithm> rows_of(std::span<algorithm_text const>);

}  // namespace coset::schedule
