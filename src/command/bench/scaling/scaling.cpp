// SPDX-License-Identifier: Apache-2.0
// The run: what is left to measure of a file, in its order, and the file kept whenever a shape is complete.
#include "command/bench/scaling/scaling.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "command/bench/bench_output.hpp"
#include "command/bench/facts.hpp"
#include "command/bench/scaling/beside.hpp"
#include "command/bench/scaling/derived.hpp"
#include "command/bench/scaling/kept.hpp"
#include "command/bench/scaling/machine_streams.hpp"
#include "command/bench/scaling/points.hpp"
#include "command/bench/scaling/reducers.hpp"
#include "command/bench/scaling/told.hpp"
#include "command/inspect/info.hpp"
#include "command/interruption.hpp"
#include "command/lab.hpp"
#include "command/machine_options.hpp"
#include "command/output.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

/// Without figures.
ordered_json new_file(topology const& machine, scaling_request const& request) {
  ordered_json file{{"coset_scaling", 2}};
  file.update(run_facts());
  file.update(
      {{"units", {{"size", "B"}, {"times", "ns"}, {"bandwidths", "GB/s"}, {"speedup", "ranks * time of one / time"}}},
       {"type", measure::name_of(request.element)},
       {"cores", machine.cores()},
       {"nodes", machine.nodes.size()},
       {"machine", machine_json(machine)},
       {"asked", asked_json(request)},
       {"streams", ordered_json::array()},
       {"between_nodes", nullptr},
       {"runs", ordered_json::array()},
       {"reducers", ordered_json::array()}});
  return file;
}

std::string time_in_words(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} seconds", std::max(std::ceil(seconds / 5) * 5, 5.0));
  return fmt::format("{:.0f} minutes", std::ceil(seconds / 60));
}

std::size_t points_of(scaling_shape const& shape, scaling_request const& request) {
  auto const ranks = static_cast<rank_t>(shape.places.size());
  std::set<std::string> keys;
  for (auto const bytes : request.sizes) {
    for (verb const what : request.verbs)
      keys.insert(key_of(shape, what, point_of(request, what, bytes, ranks).bytes(), measure::timing::cycle));
    keys.insert(key_of(shape, request.verbs.front(), point_of(request, request.verbs.front(), bytes, ranks).bytes(),
                       measure::timing::call));
  }
  return keys.size();
}

/// A run, from what a file has to what it shall have.
class scaling_run {
 public:
  scaling_run(scaling_request request, topology machine, ordered_json file)
      : request_(std::move(request)),
        machine_(std::move(machine)),
        file_(std::move(file)),
        shapes_(scaling_shapes(machine_, request_.most_ranks)),
        json_(request_.output.json),
        told_(scaling_table(request_, shapes_)) {
    for (auto const& run : file_["runs"]) keys_.insert(key_of(run));
    for (auto const& shape : shapes_) asked_ += points_of(shape, request_);
  }

  void measure() {
    announce();
    remember_interrupts();
    auto const begin = std::chrono::steady_clock::now();
    try {
      if (file_["streams"].empty())
        file_.update(measure_machine(machine_, {request_.options.rounds, request_.options.iterations != 0}));
      for (auto const& shape : shapes_) {
        if (standard_output_lost() && !has_file()) break;
        measure_points(request_, machine_, shape, keeper());
        measure_reducers(shape);
        keep();
      }
    } catch (interrupted const&) {
      report_interrupt(file_["runs"].size(), asked_);
    }
    std::chrono::duration<double> const spent = std::chrono::steady_clock::now() - begin;
    file_["measured_seconds"] = file_.value("measured_seconds", 0.0) + spent.count();
    derive_all(file_);
    keep();
  }

  ordered_json const& file() const { return file_; }

 private:
  bool has_file() const { return !(request_.output.json + request_.output.report + request_.output.csv).empty(); }

  void announce() const {
    std::cout << scaling_heads(machine_, request_);
    std::size_t const left = asked_ - std::min(asked_, file_["runs"].size());
    if (left == asked_)
      std::cout << fmt::format("# {} points on {} sets of processors, about {}\n", asked_, shapes_.size(),
                               time_in_words(estimated_seconds(machine_, shapes_, request_)));
    else
      std::cout << fmt::format("# {} of {} points are left\n", left, asked_);
    std::cout << told_.heads();
    for (auto const& run : file_["runs"]) std::cout << scaling_line(run, told_);
    std::cout << std::flush;
  }

  point_keeper keeper() {
    return {[this](std::string const& key) { return keys_.contains(key); },
            [this](ordered_json run) {
              keys_.insert(key_of(run));
              file_["runs"].push_back(std::move(run));
              auto& added = file_["runs"].back();
              auto derived = added;
              derive(file_, derived);
              added = std::move(derived);
              std::cout << scaling_line(added, told_) << std::flush;
            }};
  }

  void measure_reducers(scaling_shape const& shape) {
    if (shape.place != "compact") return;
    measure_loops(
        shape, request_.options.rounds,
        [this](std::string const& loop, std::size_t ranks) {
          for (auto const& run : file_["reducers"])
            if (run["loop"] == loop && run["ranks"] == ranks) return true;
          return false;
        },
        [this](ordered_json run) { file_["reducers"].push_back(std::move(run)); });
  }

  void keep() {
    file_.erase("partial");
    note_partial(file_, file_["runs"].size(), asked_);
    if (json_.wanted()) json_.write(text_of(file_));
  }

  scaling_request request_;
  topology machine_;
  ordered_json file_;
  std::vector<scaling_shape> shapes_;
  output_file json_;
  table told_;
  std::set<std::string> keys_;
  std::size_t asked_ = 0;
};

/// The file's figures, or nothing if there is no file.
ordered_json file_beside(std::string const& name) { return name.empty() ? ordered_json() : scaling_file(name); }

bool is_complete(ordered_json const& file) { return !file.contains("partial") && !file["streams"].empty(); }

ordered_json measured(scaling_request request) {
  auto machine = machine_to_measure();
  auto file = new_file(machine, request);
  if (auto const& name = request.output.resume; !name.empty()) {
    auto kept = scaling_file(name);
    if (is_complete(kept)) return kept;
    require_same(kept, file, name);
    auto asked = request_of(kept);
    asked.output = request.output;
    asked.output.json = name;
    request = std::move(asked);
    file = std::move(kept);
    file.erase("interrupted");
  }
  scaling_run run(std::move(request), std::move(machine), std::move(file));
  run.measure();
  return run.file();
}

std::size_t wrong_in_file(ordered_json const& file) {
  std::size_t wrong = 0;
  for (auto const* const key : {"runs", "reducers"})
    for (auto const& run : file[key]) wrong += run["wrong"].get<std::size_t>();
  return wrong;
}

}  // namespace

void measure_scaling(scaling_request const& request) {
  auto const theirs = file_beside(request.output.beside);
  output_file const page(request.output.report), csv(request.output.csv);
  auto const here = page.wanted() ? machine_here() : ordered_json();
  auto const file = measured(request);
  std::cout << streams_told(file) << reducers_told(file) << scaling_summary(file);
  ordered_json data{{"machine", here}, {"scaling", file}};
  if (!theirs.is_null()) {
    data["other"] = theirs;
    data["beside"] = laid_beside(file, theirs);
    std::cout << beside_told(data["beside"]);
  }
  if (csv.wanted()) csv.write(scaling_csv(file));
  data["csv"] = scaling_csv(file);
  if (page.wanted()) page.write(lab->report_page(data));
  finish(wrong_in_file(file));
}

}  // namespace coset::cli
