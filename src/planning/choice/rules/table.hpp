// SPDX-License-Identifier: Apache-2.0
// The rules by which a team chooses: the user's, then those measured on this machine, then the defaults.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "coset/topology.hpp"
#include "planning/calibration/fit.hpp"
#include "planning/calibration/rule.hpp"

namespace coset::choice {

using calibration::rule;

/// Immutable once a team has it, so that ranks agree without communication.
class table {
 public:
  /// COSET_ALLREDUCE, COSET_BROADCAST … of the environment. Throws argument_error naming the variable if its value
  /// cannot be read, or makes no sense for any number of ranks. The first call in a process also reports unknown
  /// COSET_… settings on standard error, see settings.hpp.
  static table of_environment();
  /// The same, then the rules of `coset tune` for this machine, except those along clusters. Throws argument_error if
  /// COSET_TUNING names a file that is no profile of it. Cost: reads a small file; the first time some 10 ms for the
  /// machine.
  static table of_this_machine();

  /// The first rule that applies, or none.
  rule const* find(verb, rank_t ranks, std::size_t bytes, bool in_place = false) const noexcept;

  /// The rules that hold wherever ranks are.
  table without_clusters() const;

  void append(rule r) { rules_.push_back(std::move(r)); }
  std::vector<rule> const& rules() const noexcept { return rules_; }

  /// What moving bytes costs here, for the choice where there is no rule.
  calibration::memory_costs const& costs() const noexcept { return costs_; }
  void set(calibration::memory_costs const& costs) { costs_ = costs; }

 private:
  calibration::memory_costs costs_;
  std::vector<rule> rules_;
};

/// The rules of a team on these processors: the environment's, the profile's rules along clusters if these hold, its
/// other rules. If clusters hold, `places` returns in their order (if the team accepts `in_any_order`) and marked. A
/// team on other processors, or of more ranks than are `usable` at once, ignores clusters and probes nothing.
/// COSET_LOG=plan reports this.
table choices_on(std::vector<processor>& places, bool in_any_order, calibration::profile const&, unsigned usable,
                 calibration::prober const&);

/// The same with this machine's own profile, if it has one. Cost: reads a small file; below 1 ms if there are clusters.
table choices_here(std::vector<processor>& places, bool in_any_order);

/// "direct/staged:0-32k;generalized(radix=4):32k-": plans with the sizes that they serve; without sizes, all. Throws
/// argument_error quoting the part that it cannot read, or that makes no sense: generalized(radix=0).
std::vector<rule> parse_rules(verb, std::string_view text);

}  // namespace coset::choice
