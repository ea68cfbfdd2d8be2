// SPDX-License-Identifier: Apache-2.0
// What `coset tune` has measured on one machine, kept in a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibration/hidden.hpp"
#include "calibration/rule.hpp"
#include "coset/topology.hpp"

namespace coset::calibration {

/// Times in nanoseconds. Rules are for arrays that are apart; what takes place in place follows the defaults.
struct profile {
  std::string fingerprint;                   ///< of the machine measured
  std::string date;                          ///< "2026-11-21T08:00:00Z"
  std::vector<unsigned> processors;          ///< [rank]
  std::vector<std::vector<double>> latency;  ///< [rank][rank], one way
  double alpha = 0;                          ///< of a step: the latency of the farthest pair
  double lambda = 0;                         ///< per peer whose flag is awaited
  double beta = 0;                           ///< per byte of the vector, of a large allreduce
  std::vector<rule> rules;                   ///< whatever the machine's clusters are
  hidden_levels hidden = {};                 ///< of processors; profiles of before have none

  /// Throws argument_error naming the file and what is wrong with it.
  static profile read(std::string const& file);
  /// What read() reads.
  std::string text() const;
};

/// What a profile must have been measured on to be used here: processors and what they share, caches, and the
/// instruction set. Names no host.
std::string fingerprint_of(topology const&);

/// The machine whose profile is looked for here: without the masks of threads, so that all of them find the same.
topology const& machine_tuned_for();

/// Where the profile of this machine is kept: COSET_TUNING, or coset/<fingerprint>.json in XDG_CACHE_HOME or ~/.cache;
/// empty where there is none of them. COSET_TUNING=off: nowhere.
std::string profile_file(std::string const& fingerprint);

/// The profile of this machine, if it has one. One that COSET_TUNING names must be readable and of this machine, else
/// argument_error; any other that is not is passed over.
std::optional<profile> find_profile(topology const&);

}  // namespace coset::calibration
