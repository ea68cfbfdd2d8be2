// SPDX-License-Identifier: Apache-2.0
// Compiled programs as scripts: their waits and signals are flags, their operands cells.
#pragma once

#include <cstddef>

#include "lab/cache/script.hpp"
#include "planning/program/program.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::cache {

/// A call whose program is simulated. All ranks share memory.
struct program_call {
  coset::verb verb = verb::allreduce;
  rank_t ranks = 1, root = 0;
  std::size_t bytes = 0;  ///< of the whole vector
  std::size_t element_bytes = sizeof(float);
  schedule::algorithm algorithm;
  program::policy storage;
};

/// What the library's executor would do, but for failures, sleeping and segments. Throws schedule_error as
/// schedule::make() and program::compile() do.
work work_of(program_call const&);

}  // namespace coset::cache
