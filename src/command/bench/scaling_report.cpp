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
      instruction_set_in_words(kernels::instruction_set()), request.options.rounds);
}

table scaling_table(scaling_request const& request, std::vector<scaling_shape> const& shapes) {
  auto made = table("# ")
                  .with(as::words, {"place"})
                  .with(as::numbers, {"ranks"})
                  .with(as::bytes, {"size"})
                  .with(as::words, {"timing"})
                  .with({.digits = 3}, {"algbw", "busbw"})
                  .with(as::ratio, {"read", "copy", "kernel", "allreduce", "efficiency"})
                  .with(as::words, {"kernel=kernel_stores", "cores"});
  constexpr double widest = 100;
  table::row row{{"timing", "cycle"}, {"kernel_stores", "streaming"}};
  for (char const* const each : {"algbw", "busbw", "read", "copy", "kernel", "allreduce"}) row[each] = widest;
  for (auto const& shape : shapes)
    for (auto const bytes : request.sizes) {
      row.update({{"place", shape.place}, {"size", bytes}});
      made.make_room(row);
    }
  return made;
}

std::string scaling_lines(scaling_row const& of, table const& like) {
  if (of.rounds == 0)
    return like.line({{"place", of.shape.place},
                      {"ranks", of.problem.ranks},
                      {"size", of.problem.bytes()},
                      {"timing", name_of(of.timing)},
                      {"cores", "no round without a change of the machine's state"}});
  auto row = row_json(of);
  row["cores"] = state_in_words(of.state);
  std::string text = like.line(row);
  if (of.node.size() < 2) return text;
  for (auto const& [node, of_node] : of.node) {
    auto more = json_of(of_node);
    more["place"] = fmt::format("on node {}", node);
    text += like.line(more);
  }
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
