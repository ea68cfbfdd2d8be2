// SPDX-License-Identifier: Apache-2.0
// What a source says, as it stands in its file in claims/, and what was found of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coset/error.hpp"
#include "lab/reproduce/range.hpp"

namespace coset::cli::reproduction {

/// By what a claim is judged: exact counts of schedules, the model's times, simulated messages, or a run on this machine.
enum class means : std::uint8_t { counts, model, simulation, run };
inline constexpr std::array<char const*, 4> means_names{"counts", "model", "simulation", "run"};

enum class verdict : std::uint8_t { agrees, disagrees, undecided };
inline constexpr std::array<char const*, 3> verdict_names{"agrees", "disagrees", "undecided"};

/// A number that was found, and for which case: "127 ranks, 10000 bytes".
struct value {
  std::string of;
  double number;
};

/// A question that numbers answer, and which numbers agree with the source, which contradict it: all of the first, or one of
/// the second. What is in neither leaves it open.
struct question {
  std::string what;
  means by;
  range agrees, disagrees;
  int function;  ///< what finds the numbers, as the file's reader keeps it
};

struct claim {
  std::string source, id, where, says;
  std::vector<question> questions;              ///< none: it is not judged here
  std::string not_judged;                       ///< why
  std::array<std::optional<verdict>, 4> finds;  ///< [means]: what is known to come of it; nothing: it agrees
  std::string because;                          ///< why it does not agree, or what is left open
  /// Settings of which the source does not say which it had, by words that end a case or stand in a question. Cases and
  /// questions without any of them belong to all. Verdicts of these settings that differ leave the claim open.
  std::vector<std::string> unknown;
};

struct answer {
  question const* to;
  std::vector<value> values;
  std::string words;    ///< instead of numbers, as of worked examples
  std::string missing;  ///< why there are no numbers: "not simulated"
  verdict found;

  /// "1.33", "0.98 to 1.05"
  std::string text() const;
};

/// What contradicts decides, then what is open; settings that differ leave it open. Throws argument_error naming the claim if a
/// number is in both ranges, or is none.
verdict verdict_on(claim const&, question const&, std::vector<value> const&);

struct judged_claim {
  claim const* of;
  std::vector<answer> answers;

  /// Of all questions that one means answers; nothing if it answers none, or has no numbers.
  std::optional<verdict> by(means) const;
  /// All means together: undecided if they contradict each other; nothing if the claim is not judged.
  std::optional<verdict> overall() const;
  /// Where a verdict differs from what the file says that it is: "by model: agrees, not disagrees"; else empty.
  std::string surprise() const;
};

/// One curve's value at one size on one number of ranks.
struct point {
  std::string setting = {};  ///< "two hosts"; empty if the figure has one
  std::string curve = {};
  rank_t ranks = 0;
  std::uint64_t bytes = 0;
  double value = 0;                      ///< in the figure's unit
  double contention = 1;                 ///< of times: the transfers by what they would take if no message met another
  std::string algorithm = {};            ///< as plans name it
  std::optional<double> simulated = {};  ///< in the same unit
};

/// Curves of a source, drawn anew.
struct figure {
  std::string source, name, title, unit;
  bool is_over_ranks = false;  ///< else over bytes
  int function = 0;            ///< what draws it
};

struct source {
  std::string name, paper;
  std::vector<claim> claims;
  std::vector<figure> figures;
};

}  // namespace coset::cli::reproduction
