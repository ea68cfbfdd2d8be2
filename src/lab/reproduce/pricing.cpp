// SPDX-License-Identifier: Apache-2.0
// Schedules made by name, counted, and priced as points.
#include "lab/reproduce/pricing.hpp"

#include "planning/schedule/registry/algorithm.hpp"

namespace coset::cli::reproduction {

flat_costs pricing::costs(flat_costs usual) const {
  usual.alpha = instead_.alpha.value_or(usual.alpha);
  usual.beta = instead_.beta.value_or(usual.beta);
  usual.gamma = instead_.gamma.value_or(usual.gamma);
  return usual;
}

counted const& pricing::flat(std::string const& algorithm, rank_t ranks, flat_costs const& usual) {
  auto const model = cost_settings::flat(costs(usual));
  auto const [found, is_new] = counted_.try_emplace({model.description(), algorithm, ranks});
  if (is_new) found->second = model.of(ranks).count(schedule::make(schedule::algorithm::parse(algorithm), ranks));
  return found->second;
}

std::vector<std::uint64_t> sizes_between(std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = first; size <= last; size *= 2) sizes.push_back(size);
  return sizes;
}

void add_times(std::vector<point>& to, point like, counted const& work, std::vector<std::uint64_t> const& sizes) {
  for (std::uint64_t const bytes : sizes) {
    auto const size = static_cast<double>(bytes);
    like.bytes = bytes;
    like.value = work.price(size).total() * 1e6;
    like.contention = work.contention(size);
    to.push_back(like);
  }
}

}  // namespace coset::cli::reproduction
