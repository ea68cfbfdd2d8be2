// SPDX-License-Identifier: Apache-2.0
// Figures and names as people read them: the same in tables, files and pages.
#pragma once

#include <string>
#include <string_view>

namespace coset::cli {

/// "1.80×": how many times faster coset is. Two digits at least, even where it is far slower.
std::string times_faster(double);

/// Of a machine's state, nearness::kind(): "near", "apart", "2+2 near", "sharing cores".
std::string state_in_words(std::string_view kind);

/// Of Highway's targets: "AVX-512 (Zen 4)" for AVX3_ZEN4. One that is not known stays as it is.
std::string instruction_set_in_words(std::string_view target);

/// How many columns a text takes: its characters, not its bytes.
std::size_t columns_of(std::string_view);

}  // namespace coset::cli
