// SPDX-License-Identifier: Apache-2.0
// The comparisons of Kolmakov and Zhang's figures, computed from exact counts and their model.
#pragma once

#include <iosfwd>

#include "schedule/model/cost.hpp"

namespace coset::cli {

/// Figures 1 and 7 to 12 as tables, under `model`. Throws argument_error for other numbers.
void print_figure(std::ostream& out, int figure, schedule::cost_model const& model);

}  // namespace coset::cli
