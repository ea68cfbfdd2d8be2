// SPDX-License-Identifier: Apache-2.0
// The table and the JSON of `coset bench --scaling`.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command/bench/bench_scaling.hpp"
#include "command/bench/facts.hpp"
#include "command/bench/words.hpp"
#include "command/bytes.hpp"
#include "runtime/kernels/kernels.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

char const* name_of(measure::timing timing) { return timing == measure::timing::cycle ? "cycle" : "call"; }

std::string cells_of(bandwidths const& b) {
  return fmt::format("{:>8.2f} {:>8.2f} {:>8.2f} {:>9.2f} {:>10.2f}", b.read, b.copy, b.kernel, b.allreduce,
                     b.efficiency());
}

ordered_json json_of(bandwidths const& b) {
  return {{"read", b.read},
          {"copy", b.copy},
          {"kernel", b.kernel},
          {"allreduce", b.allreduce},
          {"efficiency", b.efficiency()}};
}

ordered_json row_json(scaling_row const& row) {
  ordered_json processors = ordered_json::array(), nodes = ordered_json::array();
  for (processor const& p : row.shape.places) processors.push_back(p.os_index);
  for (auto const& [node, of_node] : row.node) {
    nodes.push_back(json_of(of_node));
    nodes.back()["node"] = node;
  }
  ordered_json json{{"place", row.shape.place},
                    {"ranks", row.problem.ranks},
                    {"processors", processors},
                    {"size", row.problem.bytes()},
                    {"timing", name_of(row.timing)},
                    {"state", row.state},
                    {"rounds", row.rounds},
                    {"algbw", row.algorithm_bandwidth},
                    {"busbw", row.bus_bandwidth},
                    {"kernel_stores", row.kernel},
                    {"wrong", row.wrong}};
  json.update(json_of(row.all));
  json["nodes"] = nodes;
  return json;
}

}  // namespace

std::string scaling_heads(topology const& machine, scaling_request const& request) {
  return fmt::format(
             "# coset allreduce of {}, sum: {} cores, {} nodes, {}; {} rounds\n"
             "# GB/s; read, copy, kernel and allreduce are bytes read and written, added up over all ranks\n"
             "# read, copy: every rank its own array. kernel: every rank folds its slice of all inputs into all "
             "outputs;\n"
             "#   all of them over and over, waiting for nobody, with nothing to fetch that another has just written\n"
             "# allreduce: in a call it reads and writes what the kernel does; a cycle writes the input and reads the "
             "result\n"
             "#   too, which in caches costs less than the kernel's bytes. efficiency: allreduce / kernel\n",
             measure::name_of(request.element), machine.cores(), machine.nodes.size(),
             instruction_set_in_words(kernels::instruction_set()), request.options.rounds) +
         fmt::format("#{:>9} {:>6} {:>8} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>10}  {:<10} {}\n", "place",
                     "ranks", "size", "timing", "algbw", "busbw", "read", "copy", "kernel", "allreduce", "efficiency",
                     "kernel", "cores");
}

std::string scaling_line(scaling_row const& row) {
  auto text = fmt::format("{:>10} {:>6} {:>8} {:>7} ", row.shape.place, row.problem.ranks,
                          bytes_for_people(row.problem.bytes()), name_of(row.timing));
  if (row.rounds == 0) return text + "no round without a change of the machine's state\n";
  text += fmt::format("{:>8.3f} {:>8.3f} {}  {:<10} {}\n", row.algorithm_bandwidth, row.bus_bandwidth,
                      cells_of(row.all), row.kernel, state_in_words(row.state));
  if (row.node.size() < 2) return text;
  for (auto const& [node, of_node] : row.node)
    text += fmt::format("{:>52} {}\n", fmt::format("on node {}", node), cells_of(of_node));
  return text;
}

ordered_json scaling_json(topology const& machine, scaling_request const& request,
                          std::vector<scaling_row> const& rows) {
  ordered_json runs = ordered_json::array();
  for (auto const& row : rows) runs.push_back(row_json(row));
  ordered_json json{{"coset_scaling", 1}};
  json.update(run_facts());
  json.update({{"units", {{"size", "B"}, {"bandwidths", "GB/s"}}},
               {"verb", "allreduce"},
               {"type", measure::name_of(request.element)},
               {"cores", machine.cores()},
               {"nodes", machine.nodes.size()},
               {"runs", runs}});
  return json;
}

}  // namespace coset::cli
