// SPDX-License-Identifier: Apache-2.0
// Counting once for each number of ranks, pricing for each size.
#include "lab/price/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>

#include "command/output.hpp"
#include "command/shown/selector.hpp"
#include "lab/price/soon.hpp"
#include "planning/schedule/core/required.hpp"
#include "planning/schedule/model/block_number.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

struct counted_schedule {
  std::string name;
  schedule::properties found;
  counted work;
};

counted_schedule counted_schedule_of(std::string name, schedule::schedule const& made, cost_setting const& setting) {
  auto const found = schedule::validate(made);
  return {std::move(name), found, setting.count(made)};
}

compared priced(std::string const& name, counted_schedule const& one, rank_t ranks, std::uint64_t bytes) {
  auto const size = static_cast<double>(bytes);
  return {name,
          one.name,
          ranks,
          bytes,
          one.found,
          one.work.price(size),
          one.work.contention(size),
          one.work.work.busiest()};
}

/// One algorithm or plan on one number of ranks, at any size.
using priced_by_size = std::function<compared(std::uint64_t bytes)>;

/// All that are tried, or those named.
class counted_schedules {
 public:
  counted_schedules(comparison_request const& request, cost_settings const& settings, rank_t ranks,
                    std::ostream& remarks)
      : setting_(settings.of(ranks)), remarks_(remarks), wanted_(request.wanted) {
    wanted_.ranks = ranks;
    wanted_.nodes = setting_.nodes;
    for (auto const& how : request.algorithms) add_named(how);
    for (auto const& [name, plan] : request.plans)
      if (plan.ranks == ranks) add(counted_schedule_of(name, plan, setting_));
    if (request.algorithms.empty() && request.plans.empty()) add_candidates();
  }

  std::vector<priced_by_size> found() && { return std::move(found_); }

 private:
  schedule::schedule made(schedule::algorithm const& how) const {
    return schedule::make(how, wanted_.ranks, wanted_.verb, wanted_.root);
  }

  void add(counted_schedule one) {
    found_.push_back([one = std::move(one), ranks = wanted_.ranks](std::uint64_t bytes) {
      return priced(one.name, one, ranks, bytes);
    });
  }

  /// Made for each size anew.
  void add_in_best_blocks(schedule::algorithm const& how) {
    auto const count = [setting = setting_](schedule::schedule const& s) {
      return [work = setting.count(s)](double size) { return work.price(size); };
    };
    schedule::block_numbers numbers(how, wanted_.ranks, wanted_.verb, wanted_.root, count);
    found_.push_back([how, numbers = std::move(numbers), wanted = wanted_, setting = setting_](std::uint64_t bytes) {
      auto const best = schedule::with_blocks(how, numbers.best(static_cast<double>(bytes)));
      auto const plan = schedule::make(best, wanted.ranks, wanted.verb, wanted.root);
      return priced(how.text(), counted_schedule_of(best.text(), plan, setting), wanted.ranks, bytes);
    });
  }

  void add_named(schedule::algorithm const& how) {
    auto const complete = setting_.with_nodes(how);
    auto const blocks = how.parameters.find("blocks");
    bool const in_best_blocks = blocks != how.parameters.end() && blocks->second == schedule::best_number;
    try {
      if (in_best_blocks) return add_in_best_blocks(complete);
      if (!setting_.levels) return add(counted_schedule_of(how.text(), made(complete), setting_));
      add(counted_on_levels(how.text(), proved(complete)));
    } catch (schedule_error const& e) {
      remarks_ << fmt::format("left out on {} ranks: {}\n", wanted_.ranks, e.what());
    }
  }

  schedule::proved_schedule proved(schedule::algorithm const& how) const {
    return {how, wanted_.ranks, wanted_.verb, wanted_.root};
  }
  counted_schedule counted_on_levels(std::string name, schedule::proved_schedule const& one) const {
    return {std::move(name), one.found(), counted{one.on(*setting_.levels)}};
  }

  void add_candidates() {
    auto all = schedule::candidates_for(wanted_, setting_.shape);
    if (!setting_.tree.empty())
      for (char const* const name : {"flexreduce", "tree_ring"}) all.push_back({name, {{"tree", setting_.tree}}});
    remarks_ << visit_soon(all, wanted_.ranks, [&](schedule::algorithm const& how) { add_candidate(how); });
  }

  void add_candidate(schedule::algorithm how) {
    auto const one = proved(how);
    if (!serves(one, wanted_)) return;
    if (has_blocks(schedule::find_algorithm(how.name))) {
      how.parameters["blocks"] = schedule::best_number;
      return add_in_best_blocks(setting_.with_nodes(how));
    }
    if (setting_.levels) return add(counted_on_levels(how.text(), one));
    add(counted_schedule_of(how.text(), made(setting_.with_nodes(how)), setting_));
  }

  cost_setting setting_;
  std::ostream& remarks_;
  schedule::demand wanted_;
  std::vector<priced_by_size> found_;
};

double microseconds(compared const& row) { return row.price.total() * 1e6; }

std::vector<std::string> names_in(std::vector<compared> const& rows) {
  std::vector<std::string> names;
  for (compared const& row : rows)
    if (std::ranges::find(names, row.name) == names.end()) names.push_back(row.name);
  return names;
}

bool has_one_point(std::vector<compared> const& rows) {
  return std::ranges::all_of(
      rows, [&](compared const& r) { return r.ranks == rows.front().ranks && r.bytes == rows.front().bytes; });
}

/// A line for each schedule, with what its time is spent on.
std::string lines(comparison const& of) {
  std::string text = fmt::format("{:>12}  {:>6}  {:>5}  {:>12}  {:>12}  {:>12}", "microseconds", "ratio", "steps",
                                 "latency", "transfer", "combine");
  if (of.shares_links)
    text += fmt::format("  {:>10}  {:>9}  {:<28}", "contention", "messages", "busiest link, vectors");
  text += fmt::format("  {:<6}  {:<5}  algorithm\n", "bits", "order");
  auto const fastest = std::ranges::min_element(of.rows, {}, microseconds);
  for (compared const& row : of.rows) {
    double const ratio = microseconds(*fastest) > 0 ? microseconds(row) / microseconds(*fastest) : 1;
    text += fmt::format("{:>12.2f}  {:>6.2f}  {:>5}  {:>12.2f}  {:>12.2f}  {:>12.2f}", microseconds(row), ratio,
                        row.found.steps, (row.price.latency + row.price.peers) * 1e6, row.price.transfer * 1e6,
                        row.price.combine * 1e6);
    if (of.shares_links)
      text += fmt::format("  {:>10.2f}  {:>9}  {:<28}", row.contention, row.busiest.most_messages,
                          fmt::format("{}: {}", row.busiest.name, row.busiest.volume.text()));
    text += fmt::format("  {:<6}  {:<5}  {}\n", row.found.rank_uniform ? "same" : "differ",
                        row.found.ordered ? "yes" : "no", row.made);
  }
  return text;
}

/// A line for each number of ranks and bytes, a column for each schedule.
std::string grid(comparison const& of) {
  std::map<std::pair<rank_t, std::uint64_t>, std::map<std::string, double>> cells;
  for (compared const& row : of.rows) cells[{row.ranks, row.bytes}][row.name] = microseconds(row);
  std::string text = fmt::format("microseconds\n{:>7}  {:>14}", "ranks", "bytes");
  for (auto const& name : names_in(of.rows)) text += fmt::format("  {:>12}", name);
  text += "  fastest\n";
  for (auto const& [at, times] : cells) {
    text += fmt::format("{:>7}  {:>14}", at.first, at.second);
    std::string fastest;
    for (auto const& name : names_in(of.rows)) {
      std::size_t const width = std::max<std::size_t>(name.size(), 12);
      auto const found = times.find(name);
      text +=
          found == times.end() ? fmt::format("  {:>{}}", "-", width) : fmt::format("  {:>{}.2f}", found->second, width);
      if (found != times.end() && (fastest.empty() || found->second < times.at(fastest))) fastest = name;
    }
    text += "  " + fastest + '\n';
  }
  return text;
}

}  // namespace

comparison compare(comparison_request const& request, cost_settings const& settings, std::ostream& remarks) {
  comparison made{request.wanted.verb, settings.description(), settings.shares_links(), {}};
  bool const all = request.algorithms.empty() && request.plans.empty();
  for (rank_t const ranks : request.ranks) {
    schedule::require_room(ranks, 1);  // before arrays by rank are allocated
    auto const found = counted_schedules(request, settings, ranks, remarks).found();
    for (std::uint64_t const bytes : request.bytes) {
      auto const first = static_cast<std::ptrdiff_t>(made.rows.size());
      for (auto const& one : found) made.rows.push_back(one(bytes));
      if (all)
        std::stable_sort(made.rows.begin() + first, made.rows.end(),
                         [](auto const& a, auto const& b) { return microseconds(a) < microseconds(b); });
    }
  }
  if (made.rows.empty())
    throw schedule_error(fmt::format("none of these can be priced on {} ranks{}", fmt::join(request.ranks, ", "),
                                     all ? "" : ", as said above"));
  return made;
}

std::string comparison::as_text() const {
  std::string text = fmt::format("{}; {}\n", name_of(verb), model);
  if (!has_one_point(rows)) return text + grid(*this);
  return text + fmt::format("{} bytes on {} ranks\n", rows.front().bytes, rows.front().ranks) + lines(*this);
}

std::string comparison::as_csv() const {
  std::string text =
      "collective,algorithm,ranks,bytes,seconds,latency,peers,transfer,combine,contention,steps,"
      "received_max,combined_max,rank_uniform,ordered,busiest_link,busiest_vectors,most_messages\n";
  for (compared const& row : rows)
    text += fmt::format("{},{},{},{},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.6g},{},{},{},{},{},{},{},{}\n",
                        name_of(verb), csv_text(row.name), row.ranks, row.bytes, row.price.total(), row.price.latency,
                        row.price.peers, row.price.transfer, row.price.combine, row.contention, row.found.steps,
                        row.found.received_max.text(), row.found.combined_max.text(), row.found.rank_uniform,
                        row.found.ordered, shares_links ? csv_text(row.busiest.name) : "",
                        shares_links ? row.busiest.volume.text() : "",
                        shares_links ? fmt::format("{}", row.busiest.most_messages) : "");
  return text;
}

std::string comparison::as_json() const {
  ordered_json list = ordered_json::array();
  for (compared const& row : rows) {
    ordered_json one{{"algorithm", row.name},
                     {"made", row.made},
                     {"ranks", row.ranks},
                     {"bytes", row.bytes},
                     {"seconds", row.price.total()},
                     {"latency", row.price.latency},
                     {"peers", row.price.peers},
                     {"transfer", row.price.transfer},
                     {"combine", row.price.combine},
                     {"steps", row.found.steps},
                     {"received_max", row.found.received_max.text()},
                     {"combined_max", row.found.combined_max.text()},
                     {"rank_uniform", row.found.rank_uniform},
                     {"ordered", row.found.ordered}};
    if (shares_links) {
      one["contention"] = row.contention;
      one["busiest"] = {{"link", row.busiest.name}, {"vectors", row.busiest.volume.text()}};
      one["most_messages"] = row.busiest.most_messages;
    }
    list.push_back(one);
  }
  return ordered_json{{"coset_prices", 1}, {"collective", name_of(verb)}, {"model", model}, {"prices", list}}.dump(1) +
         '\n';
}

}  // namespace coset::cli
