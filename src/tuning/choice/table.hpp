// SPDX-License-Identifier: Apache-2.0
// What a team chooses by: rules of the user's, then rules measured on this machine, then the defaults.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "coset/plan.hpp"

namespace coset::tuning {

/// Of vectors of `from` ≤ bytes < `to`.
struct rule {
  verb what;
  rank_t ranks;  ///< 0: any number
  std::size_t from, to;
  plan_options how;
  bool in_place_too = true;     ///< serves calls whose output is their input
  bool along_clusters = false;  ///< serves only ranks in the order of hidden clusters that are still there
  std::string named_by = {};    ///< "COSET_ALLREDUCE", "tuning profile 'FILE'": for messages
};

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

/// "direct/staged:0-32k;generalized(radix=4):32k-": plans with the sizes that they serve, all of them where none is said.
/// Throws argument_error quoting the part that it cannot read, or that makes no sense: generalized(radix=0).
std::vector<rule> parse_rules(verb, std::string_view text);

/// "COSET_REDUCE_SCATTER"
std::string variable_of(verb);

}  // namespace coset::tuning
