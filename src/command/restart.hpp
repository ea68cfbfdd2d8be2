// SPDX-License-Identifier: Apache-2.0
// Another program in the place of this one.
#pragma once

#include <string>

namespace coset::cli {

/// With the arguments of this one, and its environment as it is by now. Throws error naming the reason.
/// `as`: by what name, in the place of this program's.
[[noreturn]] void start_instead(std::string const& program, char const* as = nullptr);

/// Each with a null character behind it, the program's name first; empty where they cannot be read.
std::string own_arguments();

}  // namespace coset::cli
