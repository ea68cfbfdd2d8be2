// SPDX-License-Identifier: Apache-2.0
// Whose caches are simulated side by side: the plan that a call gets, others that it might get, and what one would write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coset/topology.hpp"
#include "lab/cache/simulation.hpp"
#include "planning/choice/choose.hpp"

namespace coset::cli {

/// Who offers a plan. What is of several kinds is the first of them.
enum class offer : std::uint8_t {
  named,      ///< by --plan
  chosen,     ///< what the library takes
  by_hand,    ///< a loop between two barriers, a binomial tree, everybody folding everything
  flat,       ///< `direct`, under all storages that the library considers
  considered  ///< by the choice, among the cheapest by its model
};
char const* name_of(offer);

struct contest_row {
  std::string name;
  offer by;
  std::optional<double> model_seconds;  ///< what the choice expects, if it considers this
  cache::simulated found;
  bool is_chosen = false;  ///< the library takes it, whoever offers it first
};

struct contest_request {
  choice::question asked;
  std::vector<processor> places;
  cache::costs costs;
  cache::cache_sizes caches;
  cache::timing timing = cache::timing::cycle;
  std::size_t considered = 8;      ///< so many candidates of the choice
  std::vector<std::string> plans;  ///< named ones, as text
};

struct simulated_contest {
  std::uint64_t bytes;
  std::vector<contest_row> rows;  ///< fastest first

  /// What the library takes; there is always one.
  contest_row const& chosen() const;
  /// The fastest of a kind, or none.
  contest_row const* best(offer) const;
  contest_row const* named(std::string const& name) const;
};

/// Throws schedule_error if a named plan is undefined for so many ranks, or its storage would lose a value.
simulated_contest simulate_all(contest_request const&);

/// The names of what is written by hand.
inline constexpr char const* barriers_name = "barriers";
inline constexpr char const* tree_name = "binomial/staged";
inline constexpr char const* everything_name = "direct(saved_steps=1)/staged_pull";

}  // namespace coset::cli
