// SPDX-License-Identifier: Apache-2.0
// `coset why scatter_add`: what each way of carrying out a loop of updates is expected to cost.
#pragma once

#include <cstdint>
#include <string>

#include "command/formats.hpp"
#include "coset/error.hpp"

namespace coset::cli {

struct asked_scatter {
  std::uint64_t length = 0, updates = 0, element_bytes = 8, value_bytes = 8, window = 0, most_bytes = 0;
  std::string keys = "uniform";  ///< or "zipf", "sorted"
  bool inexact = true;           ///< the order of updates may change bits
};

void add_scatter_options(CLI::App&, asked_scatter&);

/// With so many threads; 0: one for each processor that the process may use.
std::string why_scatter(asked_scatter const&, rank_t threads, formats const&);

}  // namespace coset::cli
