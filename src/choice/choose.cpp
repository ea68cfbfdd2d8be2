// SPDX-License-Identifier: Apache-2.0
#include "choice/choose.hpp"

#include <algorithm>

#include "choice/storages.hpp"

namespace coset::choice {
namespace {

using program::area;
using program::copies;
using schedule::algorithm;
using schedule::value_of;

/// More sources than this in one step cost more than another step; unmeasured beyond, so it is a rule of thumb.
constexpr rank_t most_sources = 8;
constexpr rank_t most_sources_of_crowds = 64;

/// Up to here one rank folds a shared result: two rounds of its own flags, not of all ranks' flags.
constexpr std::size_t one_writer_bytes = 512;

/// Up to here one flag round beats two, although every rank folds everything.
constexpr std::size_t eager_bytes(verb what) { return what == verb::allreduce ? 1 * kibibyte : 2 * kibibyte; }
/// The bytes of all other ranks that the root of a reduction folds alone in less time than another round takes.
constexpr std::size_t most_folded_by_root = 16 * kibibyte;

/// The bytes that each of several ranks on one processor folds in less time than another round of turns takes.
constexpr std::size_t most_folded_in_turns = 32 * kibibyte;

bool is_eager(question const& q) {
  if (q.what == verb::allreduce && q.crowded && q.ranks * q.bytes <= most_folded_in_turns) return true;
  if (q.what == verb::reduce && (q.ranks - 1) * q.bytes <= most_folded_by_root) return true;
  return q.bytes <= eager_bytes(q.what);
}

/// One copy into the output, with folds there, costs less than two copies through staging: for small arrays …
constexpr std::size_t little_bytes = 4 * kibibyte;

/// … and again for arrays beyond this size. For verbs without outputs to go through, staging up to this size costs less
/// than lines that one rank writes and others read.
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

/// Bounded, as staging lives as long as the team.
constexpr std::size_t most_staged_by_two = 16 * mebibyte;

/// If the machine reports no sizes.
constexpr std::uint64_t usual_cache_bytes = 32 * mebibyte, usual_own_cache_bytes = 1 * mebibyte;
constexpr program::policy eager{area::staging, area::staging, copies::pull};
constexpr program::policy staged_in{area::staging, area::output, copies::forward};

/// Storing into lines that another core has read took 0.8 to 6.3 times as long as copying lines that it has written if
/// the cores share a cache, and 9 to 11 times if they fetch every line from each other. The limit is between both and
/// nearer to the former, as a wrong push costs more than a copy too many.
constexpr double most_times_as_long = 7;

/// The bytes that all ranks give and get.
std::uint64_t footprint(question const& q) {
  bool const all_get_all = q.what == verb::allreduce || q.what == verb::scan || q.what == verb::exclusive_scan;
  return std::uint64_t{all_get_all ? 2 * q.ranks : q.ranks + 1} * q.bytes;
}

/// Arrays that exceed the caches by this much come from memory every time, and results are better not left in caches.
bool exceeds_caches(question const& q) {
  std::uint64_t caches = q.memory.last_cache_bytes != 0 ? q.memory.last_cache_bytes : usual_cache_bytes;
  if (q.memory.most_reached != 0) caches = std::min(caches, q.ranks * q.memory.most_reached);
  return footprint(q) > caches / 2 * 5;
}

/// Two arrays that exceed a core's own cache are fetched from further away whichever core wrote them last. Then another
/// copy costs more than lines that change owners, if storing into such lines costs as much as copying them.
bool is_better_pushed(question const& q) {
  std::uint64_t const own = q.memory.own_cache_bytes != 0 ? q.memory.own_cache_bytes : usual_own_cache_bytes;
  double const ratio = q.memory.stores_over_copies;
  return ratio > 0 && ratio < most_times_as_long && std::uint64_t{2} * q.bytes >= own;
}

/// Few ranks fold everything at once. So do ranks that take turns on processors: for them a round costs more than its
/// sources.
bool is_flat(question const& q) { return q.ranks <= most_sources || (q.crowded && q.ranks <= most_sources_of_crowds); }

/// With levels, a value crosses each level once and is then passed on inside; on one level its maker reaches all ranks.
program::policy by_level(question const& q, program::policy p) {
  bool const has_levels = !q.levels.empty() || !q.nodes.empty();
  if (!is_flat(q) && has_levels && p.how == copies::forward) p.how = copies::push;
  return p;
}

program::policy storage_for(question const& q) {
  bool const everybody_gives_and_gets = q.what == verb::allreduce;
  if (is_eager(q)) return eager;
  // In place the rank that reads a line also writes it: staging would save nothing.
  if (everybody_gives_and_gets && q.in_place) return zero_copy;
  if (everybody_gives_and_gets && q.bytes <= little_bytes) return through_outputs;
  if (exceeds_caches(q)) return streaming(zero_copy);
  if (q.what == verb::reduce_scatter) return zero_copy;  // each line has one reader
  // The root runs ahead: it rewrites its array while the copy is read.
  if (q.what == verb::broadcast && q.ranks == 2 && q.bytes <= most_staged_by_two) return staged;
  if (is_better_pushed(q)) return zero_copy;
  // Ranks that share a processor fetch no lines from each other.
  if (everybody_gives_and_gets && q.crowded) return through_outputs;
  if (q.bytes <= staged_bytes(q.what)) return staged;
  return everybody_gives_and_gets ? through_outputs : zero_copy;
}

/// Dimensions inside each level, the innermost first, so that no step crosses a level unnecessarily.
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

/// Nodes of different sizes, which no product of dimensions fits.
bool has_uneven_nodes(question const& q) {
  return std::ranges::adjacent_find(q.nodes, std::ranges::not_equal_to()) != q.nodes.end();
}

/// One fold inside each node, one between nodes: no data cross between nodes unnecessarily. With this many sources each
/// fold is one step, and so keeps the order of the ranks.
algorithm uneven_folds(question const& q) {
  rank_t const largest = std::max(*std::ranges::max_element(q.nodes), static_cast<rank_t>(q.nodes.size()));
  rank_t const radix = q.commutative ? std::min(largest, most_sources) : largest;
  return {"unequal", {{"nodes", value_of(q.nodes, '+')}, {"radix", value_of(std::max<rank_t>(radix, 2))}}};
}

/// All ranks at once: each folds the whole vector, or its block.
algorithm direct(bool whole_vector) {
  return whole_vector ? algorithm{"direct", {{"saved_steps", "1"}}} : algorithm{"direct", {}};
}

/// One step per dimension, all dimensions folded in full.
algorithm product_of(std::vector<rank_t> const& dimensions, bool whole_vector) {
  bool const several_ranks = !dimensions.empty() && dimensions.front() > 1;
  if (dimensions.size() < 2) return direct(whole_vector && several_ranks);
  return {"product",
          {{"dims", value_of(dimensions, 'x')}, {"saved_steps", value_of(whole_vector ? dimensions.size() : 0)}}};
}

algorithm folds_of(question const& q, bool whole_vector) {
  if (is_flat(q)) return product_of({q.ranks}, whole_vector);
  return whole_vector ? product_of(dimensions_by_level(q), true) : folds_by_level(q);
}

std::vector<rank_t> sizes_of(calibration::clustering const& clusters) {
  std::vector<rank_t> sizes;
  for (auto const& cluster : clusters) sizes.push_back(static_cast<rank_t>(cluster.size()));
  return sizes;
}

bool all_equal(std::vector<rank_t> const& sizes) {
  return std::ranges::adjacent_find(sizes, std::ranges::not_equal_to()) == sizes.end();
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

schedule::algorithm folds_by_level(question const& q) {
  return has_uneven_nodes(q) ? uneven_folds(q) : product_of(dimensions_by_level(q), false);
}

std::string folds_along(std::vector<calibration::clustering> const& levels, rank_t ranks) {
  question what{.ranks = ranks};
  for (auto const& level : levels) {
    auto const sizes = sizes_of(level);
    if (all_equal(sizes))
      what.levels.push_back(sizes.front());
    else if (what.nodes.empty())
      what.nodes = sizes;
  }
  return folds_by_level(what).text();
}

verb schedule_of(verb what) {
  bool const has_none = what == verb::barrier || what == verb::reduce_shared || what == verb::allreduce_view;
  return has_none ? verb::allreduce : what;  // a barrier is an allreduce of nothing
}

answer choose(question const& q) {
  bool const whole_vector = is_eager(q);
  switch (q.what) {
    case verb::reduce_shared:
    case verb::allreduce_view:
      if (q.what == verb::allreduce_view && q.bytes <= private_view_bytes) return {folds_of(q, true), eager};
      // The result is written once, where it is read; a small one by one rank, out of entry lines.
      if (q.bytes <= one_writer_bytes)
        return {{"binomial", {{"radix", value_of(q.crowded ? most_sources_of_crowds : most_sources)}}}, staged_in};
      return {folds_of(q, false), by_level(q, zero_copy)};
    case verb::allgather:
      return {folds_of(q, false), by_level(q, storage_for(q))};
    case verb::scan:
    case verb::exclusive_scan:
      if (q.ranks > most_sources) return {{"recursive_doubling", {}}, whole_vector ? eager : staged};
      return {direct(whole_vector), storage_for(q)};
    default:
      return {folds_of(q, whole_vector), by_level(q, storage_for(q))};
  }
}

}  // namespace coset::choice
