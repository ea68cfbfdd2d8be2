// SPDX-License-Identifier: Apache-2.0
// `coset cost --topology`: traffic by level and predicted time of every candidate on a machine.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "command/shown/selector.hpp"

namespace coset::cli {

struct machine_request {
  std::string topology;           ///< as machine_named() reads it
  std::string place = "compact";  ///< or scatter
  schedule::demand wanted;        ///< 0 ranks: one per core of the topology
  std::uint64_t bytes = 8;        ///< of the vector
  std::vector<std::string> set;   ///< as model_of() reads them
  std::optional<double> gamma;    ///< seconds per byte combined
  bool json = false;
};

/// Fastest first. Throws topology_error, schedule_error or argument_error for requests that cannot be served.
void print_costs_on_machine(std::ostream&, machine_request);

}  // namespace coset::cli
