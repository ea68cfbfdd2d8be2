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

#include "command/bound_json.hpp"
#include "command/shown/networks/link_traffic.hpp"
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
  std::string node_link = {};
};

/// The load of a node's busiest link in one direction, in vectors.
std::string busiest_node_link(schedule::schedule const& made, std::vector<rank_t> const& nodes) {
  if (nodes.empty()) return "";
  std::vector<rank_t> node_of;
  for (rank_t n = 0; n < nodes.size(); ++n) node_of.insert(node_of.end(), nodes[n], n);
  schedule::fraction busiest = 0;
  for (auto const& [out, in] : schedule::host_traffic(made, node_of)) busiest = std::max({busiest, out, in});
  return busiest.text();
}

counted_schedule counted_schedule_of(std::string name, schedule::schedule const& made, cost_setting const& setting) {
  auto const found = schedule::validate(made);
  return {std::move(name), found, setting.count(made), busiest_node_link(made, setting.nodes)};
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
          one.work.work.busiest(),
          one.node_link};
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
  std::vector<schedule::cut> cuts() const {
    return setting_.cuts ? setting_.cuts(wanted_) : std::vector<schedule::cut>{};
  }

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
    (void)schedule::find_algorithm(how.name);  // a misspelt name is no reason to leave one out
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

/// As programs get them.
std::vector<ordered_json> rows_of(comparison const& of) {
  std::vector<ordered_json> all;
  for (compared const& row : of.rows) {
    all.push_back({{"algorithm", row.name},
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
                   {"ordered", row.found.ordered}});
    if (!row.node_link.empty()) all.back()["node_link"] = row.node_link;
    if (!of.shares_links) continue;
    all.back()["contention"] = row.contention;
    all.back()["busiest"] = {{"link", row.busiest.name}, {"vectors", row.busiest.volume.text()}};
    all.back()["most_messages"] = row.busiest.most_messages;
    all.back().update(bound_json(*row.bound, static_cast<double>(row.bytes), row.price.total()));
  }
  return all;
}

/// A line for each schedule, with what its time is spent on.
std::string lines(comparison const& of) {
  constexpr look us{.unit = "us", .digits = 2, .scale = 1e6};
  auto told = table()
                  .with(us, {"time=seconds"})
                  .with(as::ratio, {"ratio"})
                  .with(as::numbers, {"steps"})
                  .with(us, {"latency=waiting", "transfer", "combine"})
                  .with(as::numbers, {"received=received_max", "combined=combined_max"});
  if (!of.rows.front().node_link.empty()) told.with(as::numbers, {"node link=node_link"});
  if (of.shares_links)
    told.with(as::ratio, {"contention"})
        .with(as::numbers, {"messages=most_messages"})
        .with(as::words, {"busiest link=busiest.link"})
        .with({.unit = "vectors"}, {"carries=busiest.vectors"})
        .with(us, {"bound=bound.seconds"})
        .with(as::ratio, {"over bound=over_bound"})
        .with(as::words, {"binding cut=bound.cut"});
  told.with(as::words, {"bits", "order=ordered", "algorithm=made"});
  auto rows = rows_of(of);
  auto const seconds = [](ordered_json const& row) { return row["seconds"].get<double>(); };
  double const fastest = seconds(*std::ranges::min_element(rows, {}, seconds));
  for (auto& row : rows) {
    row["ratio"] = fastest > 0 ? seconds(row) / fastest : 1.;
    row["waiting"] = row["latency"].get<double>() + row["peers"].get<double>();
    row["bits"] = row["rank_uniform"].get<bool>() ? "same" : "differ";
    told.add(std::move(row));
  }
  return told.as_text();
}

/// A line for each number of ranks and bytes, a column for each schedule.
std::string grid(comparison const& of) {
  auto told = table().with(as::numbers, {"ranks", "bytes"});
  auto const names = names_in(of.rows);
  for (std::size_t k = 0; k < names.size(); ++k)
    told.with({.digits = 2, .scale = 1e6}, names[k], fmt::format("seconds.{}", k));
  told.with(as::words, {"fastest"});
  std::map<std::pair<rank_t, std::uint64_t>, std::map<std::string, double>> points;
  for (compared const& row : of.rows) points[{row.ranks, row.bytes}][row.name] = row.price.total();
  for (auto const& [at, found] : points) {
    ordered_json row{{"ranks", at.first}, {"bytes", at.second}};
    std::string fastest;
    for (std::size_t k = 0; k < names.size(); ++k) {
      auto const one = found.find(names[k]);
      row["seconds"][fmt::format("{}", k)] = one == found.end() ? ordered_json() : ordered_json(one->second);
      if (one != found.end() && (fastest.empty() || one->second < found.at(fastest))) fastest = names[k];
    }
    row["fastest"] = fastest;
    told.add(std::move(row));
  }
  return "microseconds\n" + told.as_text();
}

}  // namespace

comparison compare(comparison_request const& request, cost_settings const& settings, std::ostream& remarks) {
  comparison made{request.wanted.verb, settings.description(), settings.shares_links(), {}};
  bool const all = request.algorithms.empty() && request.plans.empty();
  for (rank_t const ranks : request.ranks) {
    schedule::require_room(ranks, 1);  // before arrays by rank are allocated
    counted_schedules counted(request, settings, ranks, remarks);
    auto const cuts = counted.cuts();
    auto const found = std::move(counted).found();
    for (std::uint64_t const bytes : request.bytes) {
      auto const first = static_cast<std::ptrdiff_t>(made.rows.size());
      for (auto const& one : found) {
        made.rows.push_back(one(bytes));
        if (!cuts.empty()) made.rows.back().bound = binding(cuts, static_cast<double>(bytes));
      }
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

std::string comparison::title() const {
  auto const where = fmt::format(" of {} bytes on {} ranks", rows.front().bytes, rows.front().ranks);
  return fmt::format("{}{}; {}", name_of(verb), has_one_point(rows) ? where : "", model);
}

std::string comparison::as_text() const { return title() + '\n' + (has_one_point(rows) ? lines(*this) : grid(*this)); }

table comparison::as_table() const {
  auto made = table().with(
      as::numbers, {"collective", "algorithm", "ranks", "bytes", "seconds", "latency", "peers", "transfer", "combine",
                    "contention", "steps", "received_max", "combined_max", "rank_uniform", "ordered",
                    "busiest_link=busiest.link", "busiest_vectors=busiest.vectors", "most_messages", "node_link"});
  made.with(as::numbers, {"bound=bound.seconds", "over_bound", "binding cut=bound.cut", "crosses=bound.vectors"});
  for (auto& row : rows_of(*this)) {
    row["collective"] = name_of(verb);
    made.add(std::move(row));
  }
  return made;
}

std::string comparison::as_json() const {
  ordered_json const json{
      {"coset_prices", 1}, {"collective", name_of(verb)}, {"model", model}, {"prices", rows_of(*this)}};
  return json.dump(1) + '\n';
}

}  // namespace coset::cli
