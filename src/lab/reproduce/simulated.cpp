// SPDX-License-Identifier: Apache-2.0
// CSV in, times beside points out.
#include "lab/reproduce/simulated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "base/text/file.hpp"
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

std::vector<simulated_time> read_simulated(std::string const& name) {
  std::istringstream file(text::content_of<argument_error>(name, name));
  std::string line;
  if (!std::getline(file, line)) throw argument_error(fmt::format("{} is empty", name));
  auto const head = cells_of(line);
  auto const [experiment, ranks, mapping, algorithm, bytes, seconds] = places_of(head, name);
  std::vector<simulated_time> all;
  for (std::size_t number = 2; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    auto const cells = cells_of(line);
    auto const fail = [&] { throw argument_error(fmt::format("{}, line {}: '{}' is no time", name, number, line)); };
    if (cells.size() != head.size()) fail();
    auto const of_ranks = whole_number_in(cells[ranks]), of_bytes = whole_number_in(cells[bytes]);
    auto const of_seconds = seconds_in(cells[seconds]);
    if (!of_ranks || *of_ranks > most_ranks || !of_bytes || !of_seconds) fail();
    all.push_back({cells[experiment], cells[mapping], full_name(cells[algorithm]), static_cast<rank_t>(*of_ranks),
                   *of_bytes, *of_seconds});
  }
  return all;
}

void put_beside(std::vector<simulated_time> const& all, figure const& of, std::vector<point>& points) {
  if (all.empty() || of.experiment.empty()) return;
  for (point& p : points) {
    auto const find = [&](std::string const& name) {
      return std::ranges::find_if(all, [&](simulated_time const& t) {
        return t.experiment == of.experiment && t.mapping == p.mapping && t.ranks == p.ranks && t.bytes == p.bytes &&
               t.algorithm == name;
      });
    };
    auto found = find(p.simulated_as);
    if (found == all.end()) found = find(full_name(p.algorithm));
    if (found != all.end()) p.simulated = found->seconds * 1e6;
  }
}

}  // namespace coset::cli::reproduction
