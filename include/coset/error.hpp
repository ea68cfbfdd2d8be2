// SPDX-License-Identifier: Apache-2.0
// What can go wrong, one type per cause; every message names the values that caused it.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <cstdint>
#include <stdexcept>

#include "coset/detail/visibility.h"

namespace coset::inline COSET_ABI {

/// A rank of a team, in [0, P).
using rank_t = std::uint32_t;

/// The root of everything that coset throws on purpose.
struct COSET_API error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An invalid argument: overlapping spans, an unknown rank, a nested run().
struct COSET_API argument_error : error {
  using error::error;
};

/// The machine cannot do what the call asks: more processors than exist, an unknown processor, an unreadable
/// description.
struct COSET_API topology_error : error {
  using error::error;
};

/// The ranks of a team disagree: another verb, count, type or operation, or a rank that left. Thrown on every rank. Also
/// threads of an OpenMP region that do not all come to the same combination of a reduction.
struct COSET_API mismatch_error : error {
  using error::error;
};

/// A schedule that does not exist or does not do what its verb requires.
struct COSET_API schedule_error : error {
  using error::error;
};

/// The team was aborted, here or by another rank; the message carries the first reason.
struct COSET_API aborted : error {
  using error::error;
};

/// A deadline passed.
struct COSET_API timed_out : error {
  using error::error;
};

/// A rank cannot have the memory that a collective needs. Thrown on every rank.
/// Its words are within it, as there may be no memory for them either.
class COSET_API out_of_memory : public error {
 public:
  explicit out_of_memory(char const* words) noexcept : error("") {
    for (unsigned k = 0; k + 1 < sizeof words_ && words[k] != '\0'; ++k) words_[k] = words[k];
  }
  char const* what() const noexcept override { return words_; }

 private:
  char words_[256] = {};
};

namespace mpi {

/// Communication between processes failed: the MPI library reported an error, or a process did not answer by the
/// deadline.
struct COSET_API error : coset::error {
  using coset::error::error;
};

}  // namespace mpi

}  // namespace coset
