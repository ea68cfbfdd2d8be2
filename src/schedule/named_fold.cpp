// SPDX-License-Identifier: Apache-2.0
// The rows of the algorithms that are fold chains.
#include "schedule/named_fold.hpp"

namespace coset::schedule {

std::vector<named_algorithm> fold_algorithms() { return {}; }

}  // namespace coset::schedule
