// SPDX-License-Identifier: Apache-2.0
// CSV in, times out.
#include "lab/reproduce/simulated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "command/numbers.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::cli::reproduction {
namespace {

/// The cells of a line; commas and doubled quotation marks may stand inside quotation marks.
std::vector<std::string> cells_of(std::string const& line) {
  std::vector<std::string> cells{""};
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"')
      cells.back() += line[++i];
    else if (line[i] == '"')
      is_quoted = !is_quoted;
    else if (line[i] == ',' && !is_quoted)
      cells.emplace_back();
    else if (line[i] != '\r')
      cells.back() += line[i];
  }
  return cells;
}

constexpr std::array simulated_columns{"experiment", "ranks", "mapping", "algorithm", "bytes", "seconds"};

/// Where each of them is. Throws argument_error if one is missing.
std::array<std::size_t, simulated_columns.size()> places_of(std::vector<std::string> const& head,
                                                            std::string const& file) {
  std::array<std::size_t, simulated_columns.size()> places{};
  for (std::size_t c = 0; c < places.size(); ++c) {
    auto const found = std::ranges::find(head, simulated_columns[c]);
    if (found == head.end())
      throw argument_error(
          fmt::format("{} has no column '{}'; its first line is to name experiment, ranks, mapping, "
                      "algorithm, bytes and seconds",
                      file, simulated_columns[c]));
    places[c] = static_cast<std::size_t>(found - head.begin());
  }
  return places;
}

/// With defaults, and nodes written in one way, if it is an algorithm of this library; others keep their name.
std::string full_name(std::string const& text) {
  try {
    auto named = schedule::completed(schedule::algorithm::parse(text));
    if (named.parameters.contains("nodes")) named.parameters["nodes"] = schedule::value_of(named.numbers("nodes"), '+');
    return named.text();
  } catch (schedule_error const&) {
    return text;
  }
}

}  // namespace

simulated_times::simulated_times(std::string const& text, std::string const& name) {
  std::istringstream file(text);
  std::string line;
  if (!std::getline(file, line)) throw argument_error(fmt::format("{} is empty", name));
  auto const head = cells_of(line);
  auto const [experiment, ranks, mapping, algorithm, bytes, seconds] = places_of(head, name);
  for (std::size_t number = 2; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    auto const cells = cells_of(line);
    auto const fail = [&](char const* why) {
      throw argument_error(fmt::format("{}, line {}: '{}' {}", name, number, line, why));
    };
    if (cells.size() != head.size()) fail("is no time");
    auto const of_ranks = whole_number_in(cells[ranks]), of_bytes = whole_number_in(cells[bytes]);
    auto const of_seconds = seconds_in(cells[seconds]);
    if (!of_ranks || *of_ranks > most_ranks || !of_bytes || !of_seconds) fail("is no time");
    key const at{cells[experiment], cells[mapping], static_cast<rank_t>(*of_ranks), full_name(cells[algorithm]),
                 *of_bytes};
    if (!seconds_.emplace(at, *of_seconds).second) fail("says again what another line says");
  }
}

std::optional<double> simulated_times::seconds(std::string const& experiment, std::string const& mapping, rank_t ranks,
                                               std::string const& algorithm, std::uint64_t bytes) const {
  auto const found = seconds_.find({experiment, mapping, ranks, full_name(algorithm), bytes});
  return found == seconds_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::uint64_t> simulated_times::sizes(std::string const& experiment, std::string const& mapping,
                                                  rank_t ranks) const {
  std::set<std::uint64_t> found;
  for (auto const& [at, seconds] : seconds_)
    if (std::get<0>(at) == experiment && std::get<1>(at) == mapping && std::get<2>(at) == ranks)
      found.insert(std::get<4>(at));
  return {found.begin(), found.end()};
}

std::vector<std::string> simulated_times::algorithms(std::string const& experiment, std::string const& mapping,
                                                     rank_t ranks) const {
  std::set<std::string> found;
  for (auto const& [at, seconds] : seconds_)
    if (std::get<0>(at) == experiment && std::get<1>(at) == mapping && std::get<2>(at) == ranks)
      found.insert(std::get<3>(at));
  return {found.begin(), found.end()};
}

}  // namespace coset::cli::reproduction
