// SPDX-License-Identifier: Apache-2.0
// `coset bench --regret`: the default beside everything that could have been taken instead; `--guidelines`: a verb beside what
// gives as much or more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/measure/harness/rounds.hpp"
#include "command/measuring.hpp"

namespace coset::cli {

inline constexpr std::size_t judged_rounds = 9;

struct judged_request {
  std::vector<std::string> verbs;
  std::vector<std::uint64_t> sizes;
  std::vector<unsigned> processors;
  bench_arguments arguments;  ///< for what they say of types, operations, files and rounds
};

/// A row for each verb, size, timing and state: the default's time as a multiple of the least of all plans that can serve, of
/// compositions of verbs and of the rivals, the median of ratios in one round each; before it has learned, and after 64 calls.
void measure_regret(judged_request const&);

/// A row for each rule, size, timing and state: the verb's time as a multiple of that of what gives as much.
void measure_guidelines(judged_request const&);

}  // namespace coset::cli
