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

constexpr std::size_t eager_bytes = 2 * 1024;    ///< one flag round beats two although everybody folds everything
constexpr std::size_t staged_bytes = 512 * 1024; ///< staging keeps each line between two ranks; beyond, its copies cost more

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

choice choose(schedule::collective, rank_t ranks, std::size_t bytes, bool in_place) {
  if (bytes <= eager_bytes) return {folds_of(ranks, true), {area::staging, area::staging, copies::pull, in_place}};
  if (bytes <= staged_bytes) return {folds_of(ranks, false), {area::staging, area::staging, copies::forward, in_place}};
  return {folds_of(ranks, false), {area::input, area::output, copies::forward, in_place}};
}

}  // namespace coset::tuning
