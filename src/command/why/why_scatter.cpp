// SPDX-License-Identifier: Apache-2.0
#include "command/why/why_scatter.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "command/bytes.hpp"
#include "command/numbers.hpp"
#include "reducer/updates/prices.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

/// What a loop would show of its keys. The same generator in every library, so that figures can be compared.
detail::key_sample sample_of(asked_scatter const& asked) {
  detail::key_sample sample;
  std::uint64_t const width = asked.window != 0 ? std::min(asked.window, asked.length) : asked.length;
  std::size_t const looks = asked.updates / detail::key_sample::stride_of(asked.updates);
  std::mt19937_64 random;
  for (std::size_t k = 0; k < looks; ++k) {
    double const at = asked.keys == "sorted" ? (static_cast<double>(k) + 0.5) / static_cast<double>(looks)
                                             : static_cast<double>(random() >> 11) * 0x1p-53;
    double const place =
        asked.keys == "zipf" ? std::pow(static_cast<double>(width), at) - 1 : at * static_cast<double>(width);
    sample.add(std::min(static_cast<std::size_t>(place), static_cast<std::size_t>(width - 1)));
  }
  sample.sort();
  return sample;
}

std::string note_of(updates_room::priced_way const& way) {
  if (!way.possible) return way.why_not;
  if (way.by != coset::way::partition) return "";
  return fmt::format("parts of {} elements, {} updates at once", std::uint64_t{1} << way.plan.shift, way.plan.batch);
}

}  // namespace

std::string why_scatter(asked_scatter const& asked, rank_t threads, formats const& as_what) {
  if (asked.length == 0 || asked.updates == 0)
    throw argument_error("why scatter_add: give --length, the elements of the target, and --updates of the loop");
  auto machine = updates_room::machine_facts::of_this_machine();
  machine.processors = std::max<std::size_t>(machine.processors, threads);  // of another machine
  auto const sample = sample_of(asked);
  detail::update_facts const facts{.length = asked.length,
                                   .element_bytes = asked.element_bytes,
                                   .record_bytes = asked.value_bytes + sizeof(std::uint32_t),
                                   .updates = asked.updates,
                                   .threads = threads != 0 ? threads : machine.processors,
                                   .sample = &sample,
                                   .can = {true, true, !asked.inexact, !asked.inexact}};
  scatter_options const options{.most_bytes = asked.most_bytes};
  auto const all = updates_room::prices_of(facts, options, machine);
  bool const is_too_little = updates_room::is_too_little(facts, machine);
  auto const& best = is_too_little ? all.front() : updates_room::best_of(all, options, facts);
  ordered_json ways = ordered_json::array();
  auto const title = fmt::format("scatter_add of {} updates into {} elements of {} bytes by {} threads", asked.updates,
                                 asked.length, asked.element_bytes, facts.threads);
  auto told = table()
                  .with(as::words, {"=mark"})
                  .with({.unit = "us", .digits = 1, .scale = 1e6}, {"time=seconds"})
                  .with(as::bytes, {"memory=memory_bytes", "moved=moved_bytes"})
                  .with(as::words, {"way", "=note"});
  for (auto const& each : all) {
    ways.push_back({{"way", updates_room::name_of(each.by)},
                    {"seconds", each.seconds},
                    {"memory_bytes", each.memory_bytes},
                    {"moved_bytes", each.moved_bytes},
                    {"possible", each.possible},
                    {"note", note_of(each)}});
    auto row = ways.back();
    row["mark"] = &each == &best ? ">" : "";
    told.add(std::move(row));
  }
  if (as_what.is_table()) return as_what.of(told, title);
  if (as_what.is_text())
    return fmt::format("{}\n{}chosen: {}\n", title, told.as_text(),
                       is_too_little ? "one thread is done before others would have begun to help"
                       : best.by < way::private_copies
                           ? "the cheapest; it has the serial loop's bits"
                           : "the cheapest; ways with the serial loop's bits cost over 5 % more");
  ordered_json const json{{"coset_why_scatter", 1},
                          {"length", asked.length},
                          {"updates", asked.updates},
                          {"element_bytes", asked.element_bytes},
                          {"threads", facts.threads},
                          {"chosen", updates_room::name_of(best.by)},
                          {"ways", ways}};
  return json.dump(1) + '\n';
}

void add_scatter_options(CLI::App& why, asked_scatter& asked) {
  auto const number = [] { return whole_number(1, most_bytes); };
  why.add_option("--length", asked.length,
                 "Of scatter_add and sparse_reduction: the elements of the target, such as 16M")
      ->transform(byte_size());
  why.add_option("--updates", asked.updates, "Of the same: the updates of the loop, such as 2M")
      ->transform(byte_size());
  why.add_option("--element-bytes", asked.element_bytes, "Of the same: of all arrays at one index together")
      ->check(number())
      ->capture_default_str();
  why.add_option("--value-bytes", asked.value_bytes, "Of scatter_add: what an update brings; 0: it counts")
      ->check(whole_number(0, 252))
      ->capture_default_str();
  why.add_option("--window", asked.window, "Of the same: updates go to so many neighbouring elements only")
      ->transform(byte_size());
  why.add_option("--keys", asked.keys, "Of scatter_add: uniform, zipf (element k in proportion to 1/k) or sorted")
      ->check(one_of({"uniform", "zipf", "sorted"}))
      ->capture_default_str();
  why.add_option("--most-bytes", asked.most_bytes, "Of scatter_add: limit for the memory besides the target")
      ->transform(byte_size());
}

}  // namespace coset::cli
