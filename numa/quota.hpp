// SPDX-License-Identifier: Apache-2.0
// The share of processor time that control groups grant, whatever the processor mask says.
#pragma once

#include <filesystem>
#include <optional>

namespace coset::numa {

/// The tightest quota, in processors, of this process's control group and the groups around it; none if there is none.
/// Reads versions 1 and 2 below `root`, which only tests set to something else.
std::optional<double> processor_quota(std::filesystem::path const& root = "/");

}  // namespace coset::numa
