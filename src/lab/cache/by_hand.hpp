// SPDX-License-Identifier: Apache-2.0
// What an expert writes with OpenMP instead, for the same machine.
#pragma once

#include <cstddef>

#include "lab/cache/script.hpp"

namespace coset::cache {

/// An allreduce by two central barriers: an atomic counter, and a line on which all wait for the last. Between them each
/// rank folds its slice of all inputs into one shared result, whole lines of it; after the second each copies all of the
/// result into an array of its own.
work barrier_loop(rank_t ranks, std::size_t bytes);

}  // namespace coset::cache
