// SPDX-License-Identifier: Apache-2.0
// `coset bench --regimes`: whether calls follow a change of state in the middle of a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coset/topology.hpp"

namespace coset::cli {

struct regimes_request {
  std::vector<std::uint64_t> sizes{8 << 10, 64 << 10, 256 << 10, 1 << 20};
  rank_t ranks = 0;  ///< 0: one per core
  std::size_t rounds = 21;
  std::string json_file;  ///< empty: none
};

/// Allreduces of floats, by default and by each fixed storage, in phases: the caller rewrites its array before each call
/// and reads the result; it only calls; it rewrites again. Where ranks can be placed in several ways that differ in
/// caches, they move in between. Each phase begins with 80 calls that are not timed. Prints, writes. Throws
/// CLI::RuntimeError(1) if a result was wrong.
void measure_regimes(regimes_request const&);

}  // namespace coset::cli
