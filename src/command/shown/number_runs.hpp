// SPDX-License-Identifier: Apache-2.0
// Sets of numbers as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace coset::schedule {

/// {0, 1, 2, 5} as "0-2,5", whatever their order.
std::string number_runs(std::vector<std::uint32_t>);

}  // namespace coset::schedule
