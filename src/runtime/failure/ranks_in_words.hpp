// SPDX-License-Identifier: Apache-2.0
// Where ranks are, in words. All that is read of them is atomic, or stays as it is while the team lives; so any thread may
// ask, one that is no rank too, and waits for nobody.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/rank_state.hpp"

namespace coset::runtime {

/// The clock of told_wait.
std::uint64_t now_of_waits() noexcept;

/// "0.25 s", "60 s".
std::string time_in_words(std::uint64_t nanoseconds);

/// "rank 3", "ranks 0-2, 5", of ascending numbers.
std::string ranks_in_words(std::vector<rank_t> const&);

/// Numbers of those that share this memory and have not begun so many operations yet.
std::vector<rank_t> ranks_before(shared_memory const&, std::uint32_t operation);

/// Of the caller's own wait: "60 s for rank 3 to begin operation 42, allreduce of 1000 float (plus), planned as direct,
/// staged: step 1 of 2".
std::string wait_in_words(shared_memory const&, told_wait const&, std::uint64_t now);

/// One line for each group of ranks that are alike, in the order of their first; last, how many ranks other hosts have.
/// The operation that has been spoken of is "it"; they are numbered from 1.
std::vector<std::string> where_ranks_are(shared_memory const&, std::uint64_t now, std::uint32_t spoken_of = 0);

/// The same with a line before, each of them beginning with "coset:".
std::string account_of(shared_memory const&);

/// "messages missing of ranks 4-7 (process 1 on host b)"; empty if none is. By the rank whose operation it is.
std::string missing_messages(detail::rank_state const&, flight const&);

}  // namespace coset::runtime
