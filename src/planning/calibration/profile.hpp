// SPDX-License-Identifier: Apache-2.0
// What `coset tune` has measured on one machine, kept in a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coset/topology.hpp"
#include "planning/calibration/hidden.hpp"
#include "planning/calibration/memory_costs.hpp"
#include "planning/calibration/rule.hpp"

namespace coset::calibration {

/// Times in nanoseconds. Rules are for distinct arrays; calls in place follow the defaults.
struct profile {
  std::string fingerprint;                   ///< of the machine measured
  std::string date;                          ///< "2026-11-21T08:00:00Z"
  std::vector<unsigned> processors;          ///< [rank]
  std::vector<std::vector<double>> latency;  ///< [rank][rank], one way
  double alpha = 0;                          ///< of a step: the latency of the farthest pair
  double lambda = 0;                         ///< per peer whose flag is awaited
  double beta = 0;                           ///< per byte of the vector, of a large allreduce
  std::vector<rule> rules;                   ///< valid whatever the machine's clusters are
  hidden_levels hidden = {};                 ///< of processors; older profiles have none
  memory_costs costs = {};                   ///< fitted to calls; older profiles have the defaults

  /// Throws argument_error naming the file and what is wrong with it.
  static profile read(std::string const& file);
  /// The text that read() reads.
  std::string text() const;
};

/// Identifies the machines that may use a profile: processors and what they share, caches, and the instruction set.
/// Contains no host name.
std::string fingerprint_of(topology const&);

/// The machine that profiles are looked up for: without masks of threads, so that all find the same profile.
topology const& machine_tuned_for();

/// The file of this machine's profile: COSET_TUNING, or coset/<fingerprint>.json in XDG_CACHE_HOME or ~/.cache; empty
/// if none of them is set, or if COSET_TUNING=off.
std::string profile_file(std::string const& fingerprint);

/// The profile of this machine, if it has one. A file that COSET_TUNING names must be readable and of this machine,
/// else argument_error; any other unsuitable file is ignored.
std::optional<profile> find_profile(topology const&);

}  // namespace coset::calibration
