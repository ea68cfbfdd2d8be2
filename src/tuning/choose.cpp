// SPDX-License-Identifier: Apache-2.0
#include "tuning/choose.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace coset::tuning {
namespace {

using program::area;
using program::copies;

/// More sources than this in one step cost more than another step does; unmeasured beyond, so it stays a rule of thumb.
constexpr rank_t most_sources = 8;
constexpr rank_t most_sources_of_crowds = 64;

constexpr std::size_t kibibyte = 1024, mebibyte = 1024 * kibibyte;
/// One shared result is folded by one rank up to here: two rounds of its flags, not of everybody's.
constexpr std::size_t one_writer_bytes = 512;

/// One flag round beats two up to here, although everybody folds everything.
constexpr std::size_t eager_bytes(verb what) { return what == verb::allreduce ? 1 * kibibyte : 2 * kibibyte; }

/// One copy, into the output, and folds that go on there cost less than two copies through staging: small arrays …
constexpr std::size_t little_bytes = 4 * kibibyte;

/// … and, again, those beyond this. What verbs without outputs to go through stage up to here costs less than the
/// history of lines that one rank writes and others read.
constexpr std::size_t staged_bytes(verb what) {
  switch (what) {
    case verb::allreduce:
      return 128 * kibibyte;
    case verb::allgather:
      return 64 * kibibyte;
    case verb::reduce:
      return 2 * mebibyte;
    case verb::broadcast:
    case verb::scan:
    case verb::exclusive_scan:
      return 512 * kibibyte;
    default:
      return 1 * mebibyte;
  }
}

constexpr std::uint64_t usual_cache_bytes = 32 * 1024 * 1024;

constexpr program::policy eager{area::staging, area::staging, copies::pull};
constexpr program::policy staged{area::staging, area::staging, copies::forward};
constexpr program::policy zero_copy{area::input, area::output, copies::forward};
constexpr program::policy staged_in{area::staging, area::output, copies::forward};
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
  bool const everybody_gives_and_gets = q.what == verb::allreduce;
  if (q.bytes <= eager_bytes(q.what)) return eager;
  // In place every line is written by the rank that reads it: no history to avoid.
  if (everybody_gives_and_gets && q.in_place) return zero_copy;
  if (everybody_gives_and_gets && q.bytes <= little_bytes) return through_outputs;
  if (q.what == verb::reduce_scatter && q.bytes <= staged_bytes(verb::allreduce))
    return zero_copy;  // one reader a line
  if (q.bytes <= staged_bytes(q.what)) return staged;
  if (exceeds_caches(q)) return streaming(zero_copy);
  return everybody_gives_and_gets ? through_outputs : zero_copy;
}

/// Dimensions inside each level, the innermost first, so that no step crosses a level that it need not.
std::vector<rank_t> dimensions_by_level(question const& q) {
  std::vector<rank_t> by;
  rank_t inner = 1;
  std::vector<rank_t> sizes = q.levels;
  sizes.push_back(q.ranks);
  for (rank_t const size : sizes) {
    for (rank_t const d : dimensions(size / inner, most_sources)) {
      if (d > 1) by.push_back(d);
    }
    inner = size;
  }
  return by;
}

/// One step per dimension, all dimensions folded in full. Flat where that is one dimension, where the team is small, and
/// where ranks take turns on processors: there a round costs more than its sources.
std::string folds_of(question const& q, bool whole_vector) {
  bool const flat = q.ranks <= most_sources || (q.crowded && q.ranks <= most_sources_of_crowds);
  std::vector<rank_t> const by = flat ? std::vector{q.ranks} : dimensions_by_level(q);
  if (by.size() == 1) return whole_vector && q.ranks > 1 ? "direct(saved_steps=1)" : "direct";
  return fmt::format("product(dims={},saved_steps={})", fmt::join(by, "x"), whole_vector ? by.size() : 0);
}

/// The size of the groups of equal `key` if ranks of a group are consecutive and all groups are of one size; else 0.
rank_t group_size(std::vector<processor> const& places, unsigned processor::*key) {
  rank_t size = 0, run = 0;
  std::set<unsigned> seen;
  for (std::size_t r = 0; r < places.size(); ++r) {
    bool const first = r == 0 || places[r].*key != places[r - 1].*key;
    if (first && !seen.insert(places[r].*key).second) return 0;
    run = first ? 1 : run + 1;
    bool const last = r + 1 == places.size() || places[r + 1].*key != places[r].*key;
    if (last && size != 0 && run != size) return 0;
    if (last) size = run;
  }
  return size;
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

std::vector<rank_t> levels_of(std::vector<processor> const& places) {
  std::vector<rank_t> levels;
  rank_t inner = 1;
  for (auto const key : {&processor::l3, &processor::node, &processor::package}) {
    rank_t const size = group_size(places, key);
    if (size <= inner || size >= places.size() || size % inner != 0) continue;
    levels.push_back(inner = size);
  }
  return levels;
}

choice choose(question const& q) {
  bool const whole_vector = q.bytes <= eager_bytes(q.what);
  switch (q.what) {
    case verb::reduce_shared:
    case verb::allreduce_view:
      // The result is written where it is read, once. While it is small, by one rank out of entry lines.
      if (q.bytes <= one_writer_bytes)
        return {fmt::format("binomial(radix={})", q.crowded ? most_sources_of_crowds : most_sources), staged_in};
      return {folds_of(q, false), zero_copy};
    case verb::allgather:
      return {folds_of(q, false), storage_for(q)};
    case verb::scan:
    case verb::exclusive_scan:
      if (q.ranks > most_sources) return {"recursive_doubling", whole_vector ? eager : staged};
      return {whole_vector ? "direct(saved_steps=1)" : "direct", storage_for(q)};
    default:
      return {folds_of(q, whole_vector), storage_for(q)};
  }
}

}  // namespace coset::tuning
