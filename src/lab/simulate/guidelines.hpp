// SPDX-License-Identifier: Apache-2.0
// `coset simulate --guidelines`: no verb is slower than what gives as much or more, on machines that nobody here has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/table.hpp"
#include "lab/cache/costs.hpp"
#include "lab/simulate/contest.hpp"

namespace coset::cli {

struct guidelines_request {
  topology machine;
  placement place = placement::compact;
  bool is_here = false;  ///< the machine is this one
  rank_t ranks = 0;      ///< 0: one per core
  cache::costs costs;
  cache::timing timing = cache::timing::cycle;
  std::vector<std::string> verbs;    ///< of several, those whose ranks share arrays are left out
  std::vector<std::uint64_t> sizes;  ///< ascending
};

table table_of_guidelines();

/// The simulated time of what the library chooses as a multiple of that of compositions, of itself for the next size, and with
/// one rank more where the machine has a core for it. Throws argument_error where nothing can be simulated.
void add_guidelines(guidelines_request const&, table& to);

}  // namespace coset::cli
