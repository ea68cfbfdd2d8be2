// SPDX-License-Identifier: Apache-2.0
#include "command/why/why_sparse.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "command/bytes.hpp"
#include "coset/operations.hpp"
#include "reducer/core.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;
using reducer_room::wire;
using reducer_room::wire_counts;

/// A reducer without its types: what it decides depends on sizes only. It has no copies.
std::shared_ptr<detail::reducer_core> reducer_like(asked_scatter const& asked, detail::reduction_table& table) {
  table = detail::table_of<double, plus>();
  table.element_bytes = table.partial_bytes = asked.element_bytes;
  auto const identity = std::make_shared<std::vector<std::byte>>(asked.element_bytes);
  return detail::make_sparse_reducer(
      {.count = asked.length,
       .reduction = &table,
       .operation = nullptr,
       .identity = {identity, identity->data()},
       .fill = nullptr,
       .later = {asked.element_bytes + sizeof(std::uint32_t),
                 [](void const*, detail::update_chunks const&, std::size_t, unsigned, void*) {}}},
      {});
}

/// How many of so many blocks uniform updates are expected to touch.
double expected_blocks(double blocks, double updates) {
  return -blocks * std::expm1(updates * std::log1p(-1 / blocks));
}

struct priced_rounds {
  char const* name;
  reducer_room::wire_choice choice;
  bool keeps;
};

/// Rounds in which updates are kept, if there are any, and rounds of copies. `goes_on_keeping`: after the first round.
std::vector<priced_rounds> price_rounds(asked_scatter const& asked, std::vector<rank_t> const& ranks,
                                        detail::reducer_core& core, bool& goes_on_keeping) {
  auto const all = std::accumulate(ranks.begin(), ranks.end(), 0.0);
  auto const& shape = core.shape();
  std::size_t const width = asked.window != 0 ? std::min(asked.window, asked.length) : asked.length;
  double const blocks = static_cast<double>(((width - 1) >> shape.shift) + 1);
  double const of_rank = static_cast<double>(asked.updates) / all;
  wire_counts counts{.processes = ranks.size(),
                     .bytes = asked.length * asked.element_bytes,
                     .block_bytes = shape.block_bytes(),
                     .record_bytes = asked.element_bytes + sizeof(std::uint32_t),
                     .updates = asked.updates,
                     .may_be_whole = !asked.inexact};
  std::vector<priced_rounds> found;
  bool const fits = of_rank * static_cast<double>(counts.record_bytes) * reducer_room::share_of_copy <=
                    static_cast<double>(counts.bytes);
  if (core.ways().keeps() && fits) found.push_back({"updates are kept", choose_wire(counts), true});
  counts.updates = 0;
  counts.may_be_whole = true;
  counts.blocks = static_cast<std::uint64_t>(std::round(all * expected_blocks(blocks, of_rank)));
  double united = 0;
  for (rank_t const of_process : ranks) united += expected_blocks(blocks, of_rank * of_process);
  counts.united = static_cast<std::uint64_t>(std::round(united));
  found.push_back({"copies", choose_wire(counts), false});
  core.ways().count({.updates = static_cast<std::size_t>(of_rank * ranks[0]),
                     .blocks = static_cast<std::size_t>(ranks[0] * expected_blocks(blocks, of_rank)),
                     .copies = ranks[0]});
  core.ways().next();
  goes_on_keeping = core.ways().keeps();
  return found;
}

/// When rounds are like this.
char const* when(std::vector<priced_rounds> const& all, priced_rounds const& these, bool goes_on_keeping) {
  if (all.size() == 1 || (these.keeps && goes_on_keeping)) return "all rounds";
  if (these.keeps) return "the first round";
  return goes_on_keeping ? "for comparison" : "the rounds that follow";
}

}  // namespace

std::string why_sparse(asked_scatter const& asked, std::vector<rank_t> const& ranks, double seconds_of_byte,
                       formats const& as_what) {
  if (asked.length == 0 || asked.updates == 0 || ranks.size() < 2)
    throw argument_error(
        "why sparse_reduction: give --hosts, the threads of each process, --length, the elements of the target, and "
        "--updates of all threads together");
  if (asked.keys != "uniform")
    throw argument_error("why sparse_reduction: keys are uniform, in the whole array or in --window");
  detail::reduction_table reduction;
  auto const core = reducer_like(asked, reduction);
  bool goes_on_keeping = false;
  auto const found = price_rounds(asked, ranks, *core, goes_on_keeping);
  auto const title = fmt::format(
      "sparse_reduction of {} updates into {} elements of {} bytes by {} threads of {} processes", asked.updates,
      asked.length, asked.element_bytes, std::accumulate(ranks.begin(), ranks.end(), std::uint64_t{0}), ranks.size());
  auto told = table()
                  .with(as::words, {"=mark"})
                  .with({.unit = "us", .digits = 1, .scale = 1e6}, {"a process=seconds"})
                  .with(as::bytes, {"bytes of all=bytes"})
                  .with(as::words, {"way", "rounds"});
  ordered_json rounds = ordered_json::array();
  for (auto const& each : found) {
    ordered_json ways = ordered_json::array();
    bool const come = &each == &found[0] || !goes_on_keeping;
    for (wire const way : {wire::each_rank, wire::each_process, wire::whole_array}) {
      std::uint64_t const bytes = each.choice.bytes[static_cast<std::size_t>(way)];
      double const seconds = static_cast<double>(bytes) / static_cast<double>(ranks.size()) * seconds_of_byte;
      ways.push_back({{"way", name_of(way)}, {"bytes", bytes}, {"seconds", seconds}});
      auto row = ways.back();
      row["mark"] = come && way == each.choice.way ? ">" : "";
      row["rounds"] = fmt::format("{}: {}", when(found, each, goes_on_keeping), each.name);
      told.add(std::move(row));
    }
    rounds.push_back({{"updates_are_kept", each.keeps}, {"chosen", name_of(each.choice.way)}, {"ways", ways}});
  }
  if (as_what.is_table()) return as_what.of(told, title);
  if (as_what.is_text()) return title + '\n' + told.as_text();
  ordered_json const json{{"coset_why_sparse", 1},
                          {"length", asked.length},
                          {"updates", asked.updates},
                          {"element_bytes", asked.element_bytes},
                          {"processes", ranks.size()},
                          {"block_bytes", core->shape().block_bytes()},
                          {"goes_on_keeping", goes_on_keeping},
                          {"rounds", rounds}};
  return json.dump(1) + '\n';
}

}  // namespace coset::cli
