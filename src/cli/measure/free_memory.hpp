// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace coset::cli {

/// Bytes that nobody has and that the control group lets this process have, as a container sees it.
std::uint64_t free_memory();

}  // namespace coset::cli
