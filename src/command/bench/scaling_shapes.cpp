// SPDX-License-Identifier: Apache-2.0
// The numbers of ranks and the places that `coset bench --scaling` measures.
#include <fmt/format.h>

#include <set>

#include "command/bench/bench_scaling.hpp"

namespace coset::cli {
namespace {

std::set<rank_t> numbers_of_ranks(topology const& machine, rank_t most) {
  std::set<rank_t> numbers{most};
  for (rank_t ranks = 1; ranks <= most; ranks = ranks < 8 ? ranks + 1 : 2 * ranks) numbers.insert(ranks);
  auto const all = machine.place(most, placement::compact);
  for (rank_t r = 1; r < most; ++r)
    if (all[r].node != all[r - 1].node) numbers.insert(r);
  return numbers;
}

/// The first `most` processors of a node alone.
scaling_shape on_node(topology const& machine, unsigned node, rank_t most) {
  scaling_shape shape{fmt::format("node {}", machine.nodes[node].os_index), {}};
  for (processor const& p : machine.processors)
    if (p.node == node && p.thread == 0 && shape.places.size() < most) shape.places.push_back(p);
  return shape;
}

}  // namespace

std::vector<scaling_shape> scaling_shapes(topology const& machine, rank_t largest_team) {
  rank_t const most = largest_team != 0 ? largest_team : machine.cores();
  bool const several_nodes = machine.nodes.size() > 1;
  std::vector<scaling_shape> shapes;
  for (rank_t const ranks : numbers_of_ranks(machine, most)) {
    shapes.push_back({"compact", machine.place(ranks, placement::compact)});
    if (several_nodes && ranks > 1) shapes.push_back({"scatter", machine.place(ranks, placement::scatter)});
  }
  for (unsigned node = 1; node < machine.nodes.size(); ++node) shapes.push_back(on_node(machine, node, most));
  return shapes;
}

}  // namespace coset::cli
