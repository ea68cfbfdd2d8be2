// SPDX-License-Identifier: Apache-2.0
#include "command/bench/scaling/reducers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/bench/bench_output.hpp"
#include "command/bench/scaling/spread.hpp"
#include "command/interruption.hpp"
#include "command/measure/references/loops.hpp"

namespace coset::cli {

using nlohmann::ordered_json;

void measure_loops(scaling_shape const& shape, std::size_t rounds,
                   std::function<bool(std::string const& loop, std::size_t ranks)> const& has,
                   std::function<void(ordered_json)> const& take) {
  std::vector<unsigned> processors;
  for (processor const& p : shape.places) processors.push_back(p.os_index);
  for (auto const& loop : measure::update_loops) {
    std::string const name(loop.name);
    if (has(name, processors.size())) continue;
    show_progress(fmt::format("{} on {} ranks", name, processors.size()));
    stop_if_interrupted();
    auto const found = measure::play_loop(loop, processors, rounds);
    auto const time = interval_of(found.nanoseconds);
    take({{"loop", name},
          {"place", shape.place},
          {"ranks", processors.size()},
          {"way", processors.size() > 1 ? "scatter_add" : "plain loop"},
          {"updates", loop.updates},
          {"target_bytes", loop.target_bytes()},
          {"rounds", found.nanoseconds.size()},
          {"time_ns", {{"median", time.median}, {"low", time.low}, {"high", time.high}}},
          {"rounds_ns", found.nanoseconds},
          {"wrong", found.wrong}});
  }
  show_progress("");
}

}  // namespace coset::cli
