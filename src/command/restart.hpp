// SPDX-License-Identifier: Apache-2.0
// Another program in the place of this one.
#pragma once

#include <string>

namespace coset::cli {

/// With the arguments of this one, and its environment as it is by now. Throws error naming the reason.
[[noreturn]] void start_instead(std::string const& program);

}  // namespace coset::cli
