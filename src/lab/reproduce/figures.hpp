// SPDX-License-Identifier: Apache-2.0
// A source's figure, drawn anew: its points for people and programs, and its curves.
#pragma once

#include <span>
#include <string>

#include "command/table.hpp"
#include "lab/price/plot.hpp"
#include "lab/reproduce/claim.hpp"

namespace coset::cli::reproduction {

/// A line for each setting, number of ranks and size, a column for each curve.
std::string as_text(figure const&, std::span<point const>);
/// A row for each point.
table as_table(figure const&, std::span<point const>);
std::string as_json(figure const&, std::span<point const>);

/// Throws argument_error if the figure has no curves.
picture picture_of(figure const&, std::span<point const>);

}  // namespace coset::cli::reproduction
