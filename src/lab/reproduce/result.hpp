// SPDX-License-Identifier: Apache-2.0
// A figure as it was found: its points, and what became of each claim. Printed by one printer, whatever the source.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "command/table.hpp"
#include "lab/price/plot.hpp"
#include "lab/reproduce/pricing.hpp"
#include "lab/reproduce/simulated.hpp"

namespace coset::cli::reproduction {

/// A claim and what the model says to it.
struct verdict {
  claim const* of;
  finding found;

  bool is_expected_to_hold() const { return of->differs_because.empty(); }
  std::string text() const;  ///< "agrees", "differs because …"
};

struct result {
  figure const* of;
  std::string costs;  ///< "alpha 3e-05 s, …"
  curves drawn;
  std::vector<verdict> verdicts;
};

result reproduce(figure const&, pricing&, std::vector<simulated_time> const&);

std::string as_text(std::span<result const>);
/// A row for each point and for each claim.
table as_table(std::span<result const>);
std::string as_json(std::span<result const>);

/// Throws argument_error if the figure has no curves.
picture picture_of(result const&);

}  // namespace coset::cli::reproduction
