// SPDX-License-Identifier: Apache-2.0
// What a team chooses by: rules of the user's, then rules measured on this machine, then the defaults.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/fit.hpp"
#include "calibration/rule.hpp"
#include "coset/topology.hpp"

namespace coset::choice {

using calibration::rule;

/// Immutable once a team has it, so that ranks agree without a word.
class table {
 public:
  /// COSET_ALLREDUCE, COSET_BROADCAST … of the environment. Throws argument_error naming the variable: for what cannot be
  /// read, and for what no number of ranks gives a sense. The first time in a process it also says on standard error
  /// which other COSET_… settings nobody understands, see settings.hpp.
  static table of_environment();
  /// The same, then what `coset tune` has found on this machine, but for what depends on clusters. Throws argument_error
  /// if COSET_TUNING names a file that is no profile of it. Cost: reads a small file; the first time some 10 ms for the machine.
  static table of_this_machine();

  /// The first rule that applies, or none.
  rule const* find(verb, rank_t ranks, std::size_t bytes, bool in_place = false) const noexcept;

  /// What is left for ranks that are anywhere.
  table without_clusters() const;

  void append(rule r) { rules_.push_back(std::move(r)); }
  std::vector<rule> const& rules() const noexcept { return rules_; }

 private:
  std::vector<rule> rules_;
};

/// What a team on these processors chooses by: the environment, the profile's rules along clusters if they hold, its other
/// rules. Where clusters are in force the processors come back in their order, if the team takes them `in_any_order`, and
/// marked; a team on others, or of more ranks than are `usable` at once, does without and asks nothing. COSET_LOG=plan
/// says so.
table choices_on(std::vector<processor>& places, bool in_any_order, calibration::profile const&, unsigned usable,
                 calibration::prober const&);

/// The same by this machine's own profile, if it has one. Cost: reads a small file; below 1 ms where there are clusters.
table choices_here(std::vector<processor>& places, bool in_any_order);

/// "direct/staged:0-32k;generalized(radix=4):32k-": plans with the sizes that they serve, all of them where none is said.
/// Throws argument_error quoting the part that it cannot read, or that makes no sense: generalized(radix=0).
std::vector<rule> parse_rules(verb, std::string_view text);

/// "COSET_REDUCE_SCATTER"
std::string variable_of(verb);

}  // namespace coset::choice
