// SPDX-License-Identifier: Apache-2.0
// Numbers of ranks as products: the dimensions along which they can fold.
#pragma once

#include <vector>

#include "planning/choice/choose.hpp"

namespace coset::choice {

/// Factors of `ranks`, each at most `most`, as few as possible, the largest first; {ranks} if a prime factor is larger.
std::vector<rank_t> dimensions(rank_t ranks, rank_t most);

/// All ways to write it as few factors, none larger than the one before: 12 as 12, 6·2, 4·3, 3·2·2.
std::vector<std::vector<rank_t>> all_products(rank_t ranks);

/// How many groups of the level inside each level has, the innermost first; the last one is all ranks. Their product is
/// the number of ranks.
std::vector<rank_t> sizes_by_level(question const&);

}  // namespace coset::choice
