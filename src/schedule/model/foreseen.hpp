// SPDX-License-Identifier: Apache-2.0
// What schedules cost, known before they are made: exactly for products of full folds, from below for all others.
#pragma once

#include <vector>

#include "schedule/model/cost.hpp"
#include "schedule/registry/algorithm.hpp"

namespace coset::schedule {

/// The works of "product" with these dimensions, or for a single one of "direct", as counts would find them:
/// [step][kind of rank]. For allreduce, reduce, reduce_scatter, allgather, and for scans of one dimension; broadcasts are
/// reversed reductions without combining, of which one rank that reads stands for all. Saved steps are those of whole
/// schedules: reduce_scatter and allgather, which are halves, have none.
/// Cost: a few hundred ns where groups of levels and dimensions nest, else proportional to ranks · peers.
std::vector<std::vector<work>> works_of_product(std::vector<rank_t> const& dimensions, std::uint32_t saved_steps,
                                                collective, rank_levels const&);

/// No schedule of this algorithm takes less. By the least number of steps that its row has, the least
/// volume of the verb, the fewest peers with which everybody hears of everybody, and for all but these the cheapest link.
double least_seconds(algorithm const&, collective, rank_levels const&, cost_model const&, double bytes);

/// The same of any schedule of several steps, whatever their number.
double least_seconds(collective, rank_levels const&, cost_model const&, double bytes);

}  // namespace coset::schedule
