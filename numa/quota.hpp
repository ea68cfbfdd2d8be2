// SPDX-License-Identifier: Apache-2.0
// What control groups grant: a share of processor time, whatever the processor mask says, and memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace coset::numa {

/// The tightest quota, in processors, of this process's control group and the groups around it; none if there is none.
/// Reads versions 1 and 2 below `root`, which only tests set to something else.
std::optional<double> processor_quota(std::string const& root = "/");
/// The same below "/", as it was within the last second: a dozen files take longer to read than a team to make. Any thread.
std::optional<double> recent_processor_quota();

/// Bytes that are free on this system, and that this process's control group and the groups around it let it have. `root`
/// as above.
std::uint64_t free_memory(std::string const& root = "/");

}  // namespace coset::numa
