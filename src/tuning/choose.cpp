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

constexpr std::size_t eager_bytes = 2 * 1024;     ///< one flag round beats two although everybody folds everything
constexpr std::size_t staged_bytes = 128 * 1024;  ///< up to here two copies through staging cost less than …
/// … one through the outputs, which costs less than the history of lines that one rank writes and all others read.
constexpr std::size_t shared_staged_bytes = 512 * 1024;
constexpr std::size_t one_source_bytes = 1024 * 1024;  ///< a broadcast's root is read by all up to here
constexpr std::uint64_t usual_cache_bytes = 32 * 1024 * 1024;

constexpr program::policy eager{area::staging, area::staging, copies::pull};
constexpr program::policy staged{area::staging, area::staging, copies::forward};
constexpr program::policy zero_copy{area::input, area::output, copies::forward};
constexpr program::policy through_outputs{area::output, area::output, copies::forward};

/// Arrays that exceed the caches this far come from memory every time, and results are better not left in caches.
bool exceeds_caches(question const& q) {
  std::uint64_t const caches = q.cache_bytes != 0 ? q.cache_bytes : usual_cache_bytes;
  return std::uint64_t{2} * q.ranks * q.bytes > caches / 2 * 5;
}

program::policy streaming(program::policy p) {
  p.streams = true;
  return p;
}

program::policy storage_for(question const& q) {
  if (q.bytes <= eager_bytes) return eager;
  if (q.in_place) return zero_copy;  // every line is written by the rank that reads it: no history to avoid
  if (q.bytes <= staged_bytes) return staged;
  return exceeds_caches(q) ? streaming(zero_copy) : through_outputs;
}

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

choice choose(question const& q) {
  bool const whole_vector = q.bytes <= eager_bytes;
  switch (q.what) {
    case verb::reduce_shared:
    case verb::allreduce_view:
      // The result is written where it is read: only inputs may be staged.
      return {folds_of(q.ranks, false),
              {q.bytes <= shared_staged_bytes ? area::staging : area::input, area::output, copies::forward}};
    case verb::broadcast:
      return {folds_of(q.ranks, q.bytes <= one_source_bytes), whole_vector ? eager : zero_copy};
    case verb::allgather:
      return {folds_of(q.ranks, false), whole_vector ? eager : zero_copy};
    case verb::scan:
    case verb::exclusive_scan:
      if (q.ranks > most_sources) return {"recursive_doubling", whole_vector ? eager : staged};
      // Outputs that hold inputs at first would be overwritten by results before every later rank has read them.
      return {whole_vector ? "direct(saved_steps=1)" : "direct", whole_vector                     ? eager
                                                                 : q.bytes <= shared_staged_bytes ? staged
                                                                                                  : zero_copy};
    default:
      return {folds_of(q.ranks, whole_vector), storage_for(q)};
  }
}

}  // namespace coset::tuning
