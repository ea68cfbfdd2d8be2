// SPDX-License-Identifier: Apache-2.0
// Figures and names as people read them: the same in tables, files and pages.
#pragma once

#include <string>
#include <string_view>

#include "command/measure/harness/rounds.hpp"
#include "command/measure/harness/statistics.hpp"

namespace coset::cli {

/// "1.80×": how many times faster coset is. Two digits at least, even where it is far slower.
std::string times_faster(double);
/// "1.80× [1.71, 1.88]".
std::string with_interval(measure::comparison const&);

char const* name_of(measure::timing);
/// What it is: "one cycle of {…}".
char const* in_words(measure::timing);
/// Throws argument_error if there is none.
measure::timing timing_named(std::string_view);

/// Of a machine's state, nearness::kind(): "near", "apart", "2+2 near", "sharing cores".
std::string state_in_words(std::string_view kind);

/// Of Highway's targets: "AVX-512 (Zen 4)" for AVX3_ZEN4. One that is not known stays as it is.
std::string instruction_set_in_words(std::string_view target);

}  // namespace coset::cli
