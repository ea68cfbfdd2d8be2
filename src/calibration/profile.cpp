// SPDX-License-Identifier: Apache-2.0
#include "calibration/profile.hpp"

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "coset/detail/reduction.hpp"
#include "coset/error.hpp"
#include "environment/variables.hpp"
#include "kernels/kernels.hpp"
#include "program/plan_text.hpp"
#include "schedule/registry/algorithm.hpp"
#include "text/format.hpp"

namespace coset::calibration {
namespace {

using nlohmann::json;

json json_of(rule const& r) {
  json made{{"verb", name_of(r.what)}, {"ranks", r.ranks}, {"from", r.from}, {"plan", program::text_of(r.how)}};
  if (r.to != SIZE_MAX) made["to"] = r.to;
  return made;
}

/// get() alone would accept −1 and 1.5, and numbers that do not fit.
template <class Number>
Number whole(json const& from) {
  constexpr Number most = std::numeric_limits<Number>::max();
  if (!from.is_number_unsigned() || from.get<std::uint64_t>() > most)
    throw argument_error(
        text::format("{} is not a whole number up to {}", from.is_structured() ? from.type_name() : from.dump(), most));
  return from.get<Number>();
}

rule rule_of(json const& from) {
  rule made{verb_named(from.at("verb").get<std::string>()),
            whole<rank_t>(from.at("ranks")),
            whole<std::size_t>(from.at("from")),
            SIZE_MAX,
            plan_named(from.at("plan").get<std::string>()),
            false};
  if (made.how.algorithm != "auto") schedule::require_sense(schedule::algorithm::parse(made.how.algorithm));
  if (from.contains("to")) made.to = whole<std::size_t>(from.at("to"));
  return made;
}

/// Every rank is in one cluster of each level, and the ranks of a cluster are consecutive.
clustering clustering_of(json const& from, std::size_t ranks) {
  clustering made;
  rank_t next = 0;
  for (json const& members : from) {
    auto& cluster = made.emplace_back();
    for (json const& r : members) {
      cluster.push_back(whole<rank_t>(r));
      if (cluster.back() != next++)
        throw argument_error(text::format("clusters {} do not have consecutive ranks", from.dump()));
    }
    if (cluster.empty()) throw argument_error(text::format("one of the clusters {} is empty", from.dump()));
  }
  if (next != ranks) throw argument_error(text::format("clusters {} have {} ranks, not {}", from.dump(), next, ranks));
  return made;
}

hidden_levels hidden_of(json const& from, std::size_t ranks) {
  hidden_levels made;
  for (json const& level : from.at("levels")) made.levels.push_back(clustering_of(level, ranks));
  for (json const& r : from.at("rules")) {
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

profile profile_of(json const& from) {
  if (from.at("coset_profile") != 1) throw argument_error("it has another version");
  profile made{from.at("fingerprint"),
               from.at("date"),
               {},
               from.at("latency_ns"),
               from.at("alpha_ns"),
               from.at("lambda_ns"),
               from.at("beta_ns_per_byte"),
               {}};
  for (json const& p : from.at("processors")) made.processors.push_back(whole<unsigned>(p));
  for (json const& r : from.at("rules")) made.rules.push_back(rule_of(r));
  if (from.contains("clusters")) made.hidden = hidden_of(from.at("clusters"), made.processors.size());
  return made;
}

}  // namespace

profile profile::read(std::string const& file) {
  std::ifstream in(file);
  if (!in) throw argument_error(text::format("tuning profile '{}' cannot be read", file));
  std::string const name = text::format("tuning profile '{}'", file);
  try {
    profile made = profile_of(json::parse(in));
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
  if (!hidden.levels.empty()) all["clusters"] = json_of(hidden);
  return all.dump(1) + '\n';
}

std::string fingerprint_of(topology const& machine) {
  std::string text = kernels::instruction_set() + text::format(" {}", machine.cache_bytes);
  for (processor const& p : machine.processors)
    text += text::format(" {}.{}.{}.{}.{}.{}", p.os_index, p.core, p.l2, p.l3, p.node, p.package);
  return text::format("{}c{}n-{:016x}", machine.cores(), machine.nodes.size(), detail::hash_of(text));
}

/// Never destroyed, as teams may be made until the process ends.
topology const& machine_tuned_for() {
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
  } catch (argument_error const&) {
    if (named) throw;
    return std::nullopt;
  }
}

}  // namespace coset::calibration
