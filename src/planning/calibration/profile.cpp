// SPDX-License-Identifier: Apache-2.0
#include "planning/calibration/profile.hpp"

#include <filesystem>
#include <utility>

#include "base/environment/variables.hpp"
#include "base/text/fields.hpp"
#include "base/text/file.hpp"
#include "base/text/format.hpp"
#include "base/text/json.hpp"
#include "base/text/log.hpp"
#include "coset/detail/reduction.hpp"
#include "coset/error.hpp"
#include "numa/process/fork.hpp"
#include "planning/program/plan_text.hpp"
#include "planning/schedule/registry/algorithm.hpp"
#include "runtime/kernels/kernels.hpp"

namespace coset::calibration {
namespace {

using nlohmann::json;
using text::field;

json json_of(rule const& r) {
  json made{{"verb", name_of(r.what)}, {"ranks", r.ranks}, {"from", r.from}, {"plan", program::text_of(r.how)}};
  if (r.to != SIZE_MAX) made["to"] = r.to;
  return made;
}

/// Calls read(): what is wrong with a text that coset knows is told with its place, too.
template <class Read>
auto at(field const& from, Read read) {
  try {
    return read(from.text());
  } catch (error const& e) {
    from.refuse(e.what());
  }
}

plan_options plan_in(std::string const& text) {
  auto how = plan_named(text);
  if (how.algorithm != "auto") schedule::require_sense(schedule::algorithm::parse(how.algorithm));
  return how;
}

rule rule_of(field const& from) {
  rule made{at(from["verb"], [](std::string const& text) { return verb_named(text); }),
            from["ranks"].whole<rank_t>(),
            from["from"].whole<std::size_t>(),
            SIZE_MAX,
            at(from["plan"], plan_in),
            false};
  if (from.has("to")) made.to = from["to"].whole<std::size_t>();
  if (made.to <= made.from) from.refuse(text::format("it is for no size: from {} to {}", made.from, made.to));
  return made;
}

/// Every rank is in one cluster of each level, and the ranks of a cluster are consecutive.
clustering clustering_of(field const& from, std::size_t ranks) {
  clustering made;
  rank_t next = 0;
  for (field const& members : from.elements()) {
    auto& cluster = made.emplace_back();
    for (field const& r : members.elements()) {
      cluster.push_back(r.whole<rank_t>());
      if (cluster.back() != next++) r.refuse("the clusters do not have consecutive ranks");
    }
    if (cluster.empty()) members.refuse("the cluster is empty");
  }
  if (next != ranks) from.refuse(text::format("the clusters have {} ranks, not {}", next, ranks));
  return made;
}

hidden_levels hidden_of(field const& from, std::size_t ranks) {
  hidden_levels made;
  for (field const& level : from["levels"].elements()) made.levels.push_back(clustering_of(level, ranks));
  for (field const& r : from["rules"].elements()) {
    made.rules.push_back(rule_of(r));
    made.rules.back().along_clusters = true;
  }
  return made;
}

json json_of(hidden_levels const& hidden) {
  json made{{"levels", hidden.levels}, {"rules", json::array()}};
  for (rule const& r : hidden.rules) made["rules"].push_back(json_of(r));
  return made;
}

memory_costs costs_of(field const& from) {
  memory_costs made;
  for (named_cost const& each : costs_by_name) {
    if (!from.has(each.name)) continue;
    double const nanoseconds = from[each.name].number();
    constexpr double most = 1e9;
    if (!(nanoseconds > 0 && nanoseconds <= most))
      from[each.name].refuse(text::format("it costs {} ns: take more than none, and up to a second", nanoseconds));
    made.*each.value = nanoseconds * 1e-9;
  }
  return made;
}

json json_of(memory_costs const& costs) {
  json made;
  for (named_cost const& each : costs_by_name) made[each.name] = costs.*each.value * 1e9;
  return made;
}

profile profile_of(field const& from) {
  if (from["coset_profile"].whole<unsigned>() != 1) from["coset_profile"].refuse("this coset reads version 1");
  profile made{from["fingerprint"].text(),
               from["date"].text(),
               {},
               {},
               from["alpha_ns"].number(),
               from["lambda_ns"].number(),
               from["beta_ns_per_byte"].number(),
               {}};
  for (field const& row : from["latency_ns"].elements()) {
    auto& numbers = made.latency.emplace_back();
    for (field const& each : row.elements()) numbers.push_back(each.number());
  }
  for (field const& p : from["processors"].elements()) made.processors.push_back(p.whole<unsigned>());
  for (field const& r : from["rules"].elements()) made.rules.push_back(rule_of(r));
  if (from.has("costs_ns")) made.costs = costs_of(from["costs_ns"]);
  if (from.has("clusters")) made.hidden = hidden_of(from["clusters"], made.processors.size());
  return made;
}

}  // namespace

profile profile::read(std::string const& file) {
  std::string const name = text::format("tuning profile '{}'", file);
  auto content = text::content_of<argument_error>(file, name);
  try {
    text::json_document const all(std::move(content));
    profile made = profile_of(field(all));
    for (auto* const rules : {&made.rules, &made.hidden.rules})
      for (rule& r : *rules) r.named_by = name;
    return made;
  } catch (std::exception const& e) {
    throw argument_error(text::format("{}: {}", name, e.what()));
  }
}

std::string profile::text() const {
  json all{{"coset_profile", 1},       {"fingerprint", fingerprint}, {"date", date},
           {"processors", processors}, {"latency_ns", latency},      {"alpha_ns", alpha},
           {"lambda_ns", lambda},      {"beta_ns_per_byte", beta},   {"rules", json::array()}};
  for (rule const& r : rules) all["rules"].push_back(json_of(r));
  all["costs_ns"] = json_of(costs);
  if (!hidden.levels.empty()) all["clusters"] = json_of(hidden);
  return text::json_text(all, 1) + '\n';
}

std::string fingerprint_of(topology const& machine) {
  std::string text = kernels::instruction_set() + text::format(" {}", machine.cache_bytes);
  for (processor const& p : machine.processors)
    text += text::format(" {}.{}.{}.{}.{}.{}", p.os_index, p.core, p.l2, p.l3, p.node, p.package);
  return text::format("{}c{}n-{:016x}", machine.cores(), machine.nodes.size(), detail::hash_of(text));
}

/// Never destroyed, as teams may be made until the process ends.
topology const& machine_tuned_for() {
  numa::fork_waits const until_read;
  static topology const& whole = *new topology(topology::whole_machine());
  return whole;
}

std::string profile_file(std::string const& fingerprint) {
  if (auto const file = environment::value("COSET_TUNING"); !file.empty())
    return file == "off" ? "" : std::string(file);
  std::filesystem::path cache;
  if (auto const set = environment::value("XDG_CACHE_HOME"); !set.empty()) {
    cache = set;
  } else if (auto const home = environment::value("HOME"); !home.empty()) {
    cache = std::filesystem::path(home) / ".cache";
  } else {
    return "";
  }
  return cache / "coset" / (fingerprint + ".json");
}

std::optional<profile> find_profile(topology const& machine) {
  std::string const fingerprint = fingerprint_of(machine), file = profile_file(fingerprint);
  bool const named = !environment::value("COSET_TUNING").empty();
  std::error_code unreadable;  // a folder that this user may not enter holds no profile
  if (file.empty() || (!named && !std::filesystem::exists(file, unreadable))) return std::nullopt;
  try {
    profile found = profile::read(file);
    if (found.fingerprint == fingerprint) return found;
    throw argument_error(
        text::format("tuning profile '{}' is for the machine {}, this is {}", file, found.fingerprint, fingerprint));
  } catch (argument_error const& e) {
    if (named) throw;
    if (text::plans_are_logged()) text::complain(text::format("passed over: {}", e.what()));
    return std::nullopt;
  }
}

}  // namespace coset::calibration
