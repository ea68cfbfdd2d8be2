// SPDX-License-Identifier: Apache-2.0
// The choice: which schedule under which storage serves a call. A pure function, so that ranks agree without a word.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coset/verb.hpp"
#include "program/program.hpp"

namespace coset::tuning {

struct choice {
  std::string algorithm;
  program::policy storage;
  std::size_t segment_bytes = 0;  ///< of the vector; 0: all at once
};

/// For a whole vector of `bytes` on `ranks` ranks, defaults as measured on one L3 (see the README of this folder).
choice choose(verb, rank_t ranks, std::size_t bytes);

/// Factors of `ranks`, each at most `most`, as few as possible, the largest first; {ranks} where a prime factor is larger.
std::vector<rank_t> dimensions(rank_t ranks, rank_t most);

}  // namespace coset::tuning
