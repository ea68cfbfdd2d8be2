// SPDX-License-Identifier: Apache-2.0
// Algorithms by name: "generalized(radix=4,saved_steps=1)" to a schedule.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// A name and its parameters, the same text on the command line, in the environment and in plan_options.
struct algorithm {
  std::string name;
  std::map<std::string, std::string> parameters;

  /// "ring", "capped(cap=3)", "product(dims=4x3,saved_steps=1)". Throws schedule_error quoting what it cannot read.
  static algorithm parse(std::string_view text);
  /// The inverse, parameters in alphabetical order.
  std::string text() const;

  /// A whole number. Throws schedule_error if the parameter is missing or is none.
  std::uint32_t number(std::string const& key) const;
  /// Whole numbers between 'x' or '+': "4x3", "5+2+4"; "128*1000" is 128 a thousand times. Throws schedule_error as
  /// number() does.
  std::vector<std::uint32_t> numbers(std::string const& key) const;
  /// The text itself. Throws schedule_error if the parameter is missing.
  std::string const& value(std::string const& key) const;

  friend bool operator==(algorithm const&, algorithm const&) = default;
  /// Any order, so that schedules can be looked up by what makes them.
  friend bool operator<(algorithm const& a, algorithm const& b) {
    return std::tie(a.name, a.parameters) < std::tie(b.name, b.parameters);
  }
};

/// The values of parameters: "4", and "4x3" or "5+2+4", where long runs of equal numbers are "128*1000".
inline std::string value_of(std::size_t number) { return std::to_string(number); }
std::string value_of(std::vector<rank_t> const& numbers, char between);

/// A parameter that an algorithm takes. Without a default it must be given.
struct parameter {
  std::string name, default_value, meaning;
  static constexpr std::uint32_t no_number = UINT32_MAX;
  std::uint32_t least = no_number;  ///< the smallest that makes sense, beside a default of 0
  bool passed_on = false;           ///< to the algorithm `between`
};

/// What a row knows of its schedules before any is made. A test compares it with what is counted in them.
struct least_steps {
  std::uint32_t (*of)(algorithm const&, rank_t ranks);  ///< of an allreduce of so many ranks, two or more
  bool whole_vectors;  ///< each step moves the whole vector; else blocks are folded in half of the steps, and spread
};

struct folding;
/// Of a completed algorithm; none if not for this many ranks. Throws schedule_error for parameters that make none.
using folding_maker = std::optional<folding> (*)(algorithm const&, rank_t ranks);

/// For whom algorithms are tried.
struct trial_setting {
  rank_t ranks;
  std::vector<rank_t> const& nodes;      ///< consecutive ranks of each node, where there are several
  std::vector<std::string> const& dims;  ///< of the levels' groups of ranks, where these divide one another
};

/// A parameter and its values to try, after those of the trials before it.
struct trial {
  char const* parameter;
  std::vector<std::string> (*values)(trial_setting const&, algorithm const& so_far);
};

/// A row of the registry. Its maker finds every parameter present; make() sets name, parameters, verb and root.
struct named_algorithm {
  std::string name, summary, source;
  std::vector<verb> verbs;
  std::vector<parameter> parameters;
  schedule (*make)(algorithm const&, rank_t ranks, verb, rank_t root);
  least_steps least;
  folding_maker along = nullptr;     ///< of a fold over a group
  std::vector<trial> trials = {};    ///< none: it is tried as it is by default, unless something must be given
  char const* not_chosen = nullptr;  ///< the reason why the library's own choice leaves it out
  /// gather, scatter and all_to_all are derived of what it makes for other verbs.
  bool is_derived_from = true;
};

/// Every algorithm there is, in the order in which `coset list` shows them, with the verbs that are derived.
std::vector<named_algorithm> const& registry();

/// The row of a name. Throws schedule_error listing all names.
named_algorithm const& find_algorithm(std::string_view name);

/// With defaults for the parameters that are not given. Throws schedule_error for an unknown name or parameter.
algorithm completed(algorithm);

bool serves(named_algorithm const&, verb);
/// Whether it cuts the vector in a number of blocks that does not depend on the ranks: the parameter blocks.
bool has_blocks(named_algorithm const&);
/// Throws schedule_error listing the verbs that an algorithm serves if this is none of them.
void require_verb(named_algorithm const&, verb);

/// The algorithm named `between`, with those parameters of the whole that are passed on to it. Throws schedule_error if it
/// does not take one that is given.
algorithm between_of(algorithm const&);

/// Throws schedule_error for what no number of ranks would give a sense: an unknown name or parameter, one that is missing,
/// a number below the least that it takes. Reads no files; whether a given number of ranks is served, make() tells.
void require_sense(algorithm const&);

/// The schedule of a named algorithm: name, parameters (defaults included), verb and root are filled in.
/// Throws schedule_error saying what would do: ranks 0, a root that is no rank, an unknown name or parameter, a verb
/// that the algorithm does not serve, a parameter out of range.
schedule make(algorithm const&, rank_t ranks, verb what = verb::allreduce, rank_t root = 0);

}  // namespace coset::schedule
