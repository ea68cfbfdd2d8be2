// SPDX-License-Identifier: Apache-2.0
// The numbers of ranks and the places that `coset bench --scaling` measures, and about how long that takes.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "command/bench/scaling/scaling.hpp"
#include "numa/share.hpp"

namespace coset::cli {
namespace {

std::set<rank_t> numbers_of_ranks(topology const& machine, rank_t asked) {
  rank_t const most = asked != 0 ? asked : machine.cores();
  std::set<rank_t> numbers{most};
  for (rank_t ranks = 1; ranks <= most; ranks = ranks < 8 ? ranks + 1 : 2 * ranks) numbers.insert(ranks);
  auto const all = numa::place_or_share(machine, most, placement::compact);
  for (rank_t r = 1; r < std::min(most, machine.cores()); ++r)
    if (all[r].node != all[r - 1].node) numbers.insert(r);
  if (asked == 0) numbers.insert(static_cast<rank_t>(machine.processors.size()));
  return numbers;
}

/// The first `most` cores for which this holds.
template <class Which>
scaling_shape alone(std::string place, topology const& machine, rank_t most, Which which) {
  scaling_shape shape{std::move(place), {}};
  for (processor const& p : machine.processors)
    if (p.thread == 0 && shape.places.size() < most && which(p)) shape.places.push_back(p);
  return shape;
}

scaling_shape one_per_l3(topology const& machine, rank_t most) {
  std::set<unsigned> seen;
  return alone("one per L3", machine, most, [&](processor const& p) { return seen.insert(p.l3).second; });
}

/// [node]: its L3s.
std::map<unsigned, std::set<unsigned>> l3s_by_node(topology const& machine) {
  std::map<unsigned, std::set<unsigned>> found;
  for (processor const& p : machine.processors) found[p.node].insert(p.l3);
  return found;
}

/// Those of which no other has the processors.
class shape_list {
 public:
  void add(scaling_shape shape) {
    std::vector<unsigned> processors;
    for (processor const& p : shape.places) processors.push_back(p.os_index);
    std::sort(processors.begin(), processors.end());
    if (!processors.empty() && seen_.insert(processors).second) shapes_.push_back(std::move(shape));
  }
  std::vector<scaling_shape> take() { return std::move(shapes_); }

 private:
  std::set<std::vector<unsigned>> seen_;
  std::vector<scaling_shape> shapes_;
};

/// Seconds of a burst of a contestant: as long as it is asked to take, or its least iterations with warm-up, where each
/// rank's array goes through the memory of the ranks' nodes several times.
double seconds_of_burst(rank_t ranks, std::uint64_t bytes, measure::round_options const& options) {
  constexpr double waking = 1e-3, of_first = 8e9, of_others = 3e9, passes = 5;
  constexpr rank_t first = 4;  // by themselves they do not fill the memory's bus
  double const rate = of_first * std::min(ranks, first) + of_others * (ranks - std::min(ranks, first));
  double const iteration = 1e-6 + passes * static_cast<double>(bytes) * ranks / rate;
  double const least = static_cast<double>(options.least_iterations + 2) * iteration;
  if (options.iterations != 0) return waking + static_cast<double>(options.iterations) * iteration;
  return waking + std::max(1.1e-9 * options.burst_nanoseconds, least);
}

}  // namespace

std::vector<verb> commonest_verbs() {
  std::vector<verb> some;
  for (verb const what : all_verbs())
    if (!detail::is_derived(what) && !detail::is_barrier(what) && !detail::shares_result(what) &&
        !detail::is_scan(what))
      some.push_back(what);
  return some;
}

std::vector<scaling_shape> scaling_shapes(topology const& machine, rank_t asked) {
  rank_t const most = asked != 0 ? asked : machine.cores();
  bool const several_nodes = machine.nodes.size() > 1;
  shape_list shapes;
  for (rank_t const ranks : numbers_of_ranks(machine, asked)) {
    shapes.add({"compact", numa::place_or_share(machine, ranks, placement::compact)});
    if (several_nodes && ranks <= machine.processors.size())
      shapes.add({"scatter", numa::place_or_share(machine, ranks, placement::scatter)});
  }
  for (unsigned node = 1; node < machine.nodes.size(); ++node)
    shapes.add(alone(fmt::format("node {}", machine.nodes[node].os_index), machine, most,
                     [&](processor const& p) { return p.node == node; }));
  if (!machine.has_l3) return shapes.take();
  shapes.add(one_per_l3(machine, most));
  for (auto const& [node, l3s] : l3s_by_node(machine))
    if (l3s.size() > 1)
      shapes.add(alone(fmt::format("L3 {}", *l3s.begin()), machine, most,
                       [first = *l3s.begin()](processor const& p) { return p.l3 == first; }));
  return shapes.take();
}

// Contestants: seven references, and the first verb with own work and flags, in two timings; each other verb so in one.
double estimated_seconds(scaling_shape const& shape, scaling_request const& request) {
  auto const ranks = static_cast<rank_t>(shape.places.size());
  double const players = 2 * 10 + 3 * static_cast<double>(request.verbs.size() - 1);
  double const calibrations = 4, probe_of_rank = 2e-4;
  double const bursts = players * (static_cast<double>(request.options.rounds) + calibrations);
  double seconds = 0;
  for (auto const bytes : request.sizes)
    seconds += bursts * (seconds_of_burst(ranks, bytes, request.options) + probe_of_rank * ranks / 4);
  return seconds;
}

double estimated_seconds(topology const& machine, std::vector<scaling_shape> const& shapes,
                         scaling_request const& request) {
  auto const nodes = static_cast<double>(machine.nodes.size());
  double const of_streams = 5 + 2 * nodes + nodes * nodes, of_reducers = 2;
  double seconds = of_streams;
  for (auto const& shape : shapes) seconds += estimated_seconds(shape, request) + of_reducers;
  return seconds;
}

}  // namespace coset::cli
