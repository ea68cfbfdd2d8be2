// SPDX-License-Identifier: Apache-2.0
// Tree files, and other networks: what is a tree can be walked, and what is small enough gives right schedules.
#include <sstream>

#include "answers.hpp"
#include "command/shown/networks/link_traffic.hpp"
#include "command/shown/networks/network.hpp"
#include "planning/schedule/algorithms/flexreduce.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/model/tree.hpp"

namespace {

using namespace coset::schedule;

void run_network(std::string_view input) {
  std::istringstream in{std::string(input)};
  network const of = parse_network(in, "input", {}).links;
  coset::test::demand(of.ranks() > 0, "a network has ranks");
  std::vector<link_t> way;
  routes(of).append(0, of.ranks() - 1, way);
  coset::test::demand(way.front() == of.link_out_of(0) && way.back() == of.link_into(of.ranks() - 1),
                      "a way leads from rank to rank");
}

void run(std::string_view input) {
  std::istringstream in{std::string(input)};
  tree const of = parse_tree(in, "input");
  coset::test::demand(ring_order(of).size() == of.ranks && leaves_below(of, 0).size() == of.ranks,
                      "a tree has each rank once");
  if (of.ranks > 16) return;
  schedule const ring = tree_ring(of);
  validate(ring);
  coset::test::demand(busiest_edge(ring, of) <= 1, "its ring meets an edge once in each direction");
  validate(flexreduce(of));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  coset::test::answers([&] { run_network(coset::test::text_of(data, size)); });
  coset::test::answers([&] { run(coset::test::text_of(data, size)); });
  return 0;
}
