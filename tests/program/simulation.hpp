// SPDX-License-Identifier: Apache-2.0
// Executes the programs of all ranks in one thread, by the protocol of the executor, and proves each run free of races.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planning/program/program.hpp"

namespace coset::program::testing {

/// Which arrays a caller passes.
enum class arrays {
  apart,   ///< an input and an output
  one,     ///< the input is the output
  either,  ///< an input and an output although the program would do with one: only what the verb gives and gets exists
  shared   ///< an input; the output is that of the rank that stands for this one
};

/// One collective operation of all ranks.
struct call {
  std::shared_ptr<schedule::schedule const> plan;
  std::shared_ptr<compiled const> code;
  arrays how = arrays::apart;
  std::vector<rank_t> output_of;  ///< where outputs are shared
};

/// The protocol, and what becomes of it when parts are left out.
struct protocol {
  bool waits_before_reuse = true;  ///< entering, wait for the readers of what was left two operations ago
  bool takes_all_as_done = false;  ///< … by their entries into that operation, though they told them before they read
  bool asks_everybody = true;      ///< who writes another's staging, of whom all may have read it
  std::uint32_t parities = 2;
};

/// All ranks make these calls one after the other, in an order of their steps drawn from `seed`; as soon as a call
/// returns its caller reads the result and rewrites its arrays. Returns what went wrong first, if anything: a race, a
/// wrong result, an array that does not exist, an entry overwritten or not looked at, a rank that waits for ever.
///
/// Each wait hands over what its signal promises and nothing more, however late it is looked at: what is right in one
/// order of steps is right in all.
std::optional<std::string> failure_of(std::vector<call> const&, std::uint64_t seed, protocol = {});

}  // namespace coset::program::testing
