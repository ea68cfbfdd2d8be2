// SPDX-License-Identifier: Apache-2.0
// Verbs made of others: what gives the same or more, and so should never be faster (Träff, Gropp and Thakur, "Self-consistent MPI
// performance guidelines", IEEE TPDS 21, 2010).
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "command/measure/harness/contestant.hpp"

namespace coset::measure {

/// Serves a verb by calls of others, "reduce + broadcast". Whole arrays go through scratch of each rank's own where the verbs
/// need more room than the verb they make up.
struct composition {
  std::string_view verb, text;
};

std::span<composition const> all_compositions();

/// What a verb may take, as a multiple of what gives as much or more.
inline constexpr double most_of_guideline = 1.05;

/// One rank on each processor.
std::unique_ptr<contestant> make_composition(std::vector<unsigned> const& processors, composition const&);

}  // namespace coset::measure
