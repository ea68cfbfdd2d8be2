// SPDX-License-Identifier: Apache-2.0
// Times that a simulator found.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "coset/error.hpp"

namespace coset::cli::reproduction {

class simulated_times {
 public:
  simulated_times() = default;
  /// CSV whose first line names the columns experiment, ranks, mapping, algorithm, bytes and seconds, and maybe others.
  /// Throws argument_error naming `file` and the line that is otherwise, or that says again what another one said.
  simulated_times(std::string const& text, std::string const& file);

  /// Seconds of an algorithm of this library, or of a name that the simulator has: "simgrid:mpich".
  std::optional<double> seconds(std::string const& experiment, std::string const& mapping, rank_t ranks,
                                std::string const& algorithm, std::uint64_t bytes) const;
  /// In their order, of one experiment, mapping and number of ranks.
  std::vector<std::uint64_t> sizes(std::string const& experiment, std::string const& mapping, rank_t ranks) const;
  std::vector<std::string> algorithms(std::string const& experiment, std::string const& mapping, rank_t ranks) const;

 private:
  using key = std::tuple<std::string, std::string, rank_t, std::string, std::uint64_t>;
  std::map<key, double> seconds_;
};

}  // namespace coset::cli::reproduction
