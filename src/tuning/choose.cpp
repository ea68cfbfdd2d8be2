// SPDX-License-Identifier: Apache-2.0
#include "tuning/choose.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace coset::tuning {
namespace {

using program::area;
using program::copies;

/// More sources than this in one step cost more than another step does; unmeasured beyond, so it stays a rule of thumb.
constexpr rank_t most_sources = 8;

constexpr std::size_t eager_bytes = 2 * 1024;  ///< one flag round beats two although everybody folds everything
constexpr std::size_t staged_bytes =
    512 * 1024;  ///< staging keeps each line between two ranks; beyond, its copies cost more
constexpr std::size_t one_source_bytes = 1024 * 1024;  ///< a broadcast's root is read by all up to here

constexpr program::policy eager{area::staging, area::staging, copies::pull};
constexpr program::policy staged{area::staging, area::staging, copies::forward};
constexpr program::policy zero_copy{area::input, area::output, copies::forward};

/// One step per dimension, all dimensions folded in full. Flat where that is one dimension.
std::string folds_of(rank_t ranks, bool whole_vector) {
  std::vector<rank_t> const by = dimensions(ranks, most_sources);
  if (by.size() == 1) return whole_vector && ranks > 1 ? "direct(saved_steps=1)" : "direct";
  return fmt::format("product(dims={},saved_steps={})", fmt::join(by, "x"), whole_vector ? by.size() : 0);
}

}  // namespace

std::vector<rank_t> dimensions(rank_t ranks, rank_t most) {
  std::vector<rank_t> factors;
  for (rank_t left = ranks; left > 1;) {
    rank_t f = std::min(left, most);
    while (f > 1 && left % f != 0) --f;
    if (f == 1) return {ranks};
    factors.push_back(f);
    left /= f;
  }
  if (factors.empty()) factors.push_back(ranks);
  return factors;
}

choice choose(verb what, rank_t ranks, std::size_t bytes) {
  bool const whole_vector = bytes <= eager_bytes;
  program::policy const storage = whole_vector ? eager : bytes <= staged_bytes ? staged : zero_copy;
  switch (what) {
    case verb::reduce_shared:
    case verb::allreduce_view:
      // The result is written where it is read: only inputs may be staged.
      return {folds_of(ranks, false),
              {bytes <= staged_bytes ? area::staging : area::input, area::output, copies::forward}};
    case verb::broadcast:
      return {folds_of(ranks, bytes <= one_source_bytes), whole_vector ? eager : zero_copy};
    case verb::allgather:
      return {folds_of(ranks, false), whole_vector ? eager : zero_copy};
    case verb::scan:
    case verb::exclusive_scan:
      if (ranks > most_sources) return {"recursive_doubling", storage};
      return {whole_vector ? "direct(saved_steps=1)" : "direct", storage};
    default:
      return {folds_of(ranks, whole_vector), storage};
  }
}

}  // namespace coset::tuning
