// SPDX-License-Identifier: Apache-2.0
// `coset info`: the machine as this process finds it, and what a team makes of it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <coset/coset.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "command/bytes.hpp"
#include "command/commands.hpp"
#include "command/formats.hpp"
#include "command/inspect/info.hpp"
#include "command/inspect/info_environment.hpp"
#include "command/inspect/info_placement.hpp"
#include "command/machine_options.hpp"
#include "command/measure/machine/latency.hpp"
#include "command/numbers.hpp"
#include "coset/detail/line_spacing.hpp"
#include "numa/binding.hpp"
#include "numa/describe.hpp"
#include "numa/kinds.hpp"
#include "numa/quota.hpp"
#include "numa/share.hpp"
#include "planning/calibration/memory_facts.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/memory/waiting.hpp"
#include "team/team_state.hpp"

namespace coset::cli {
namespace {

struct cache {
  char const* name;
  std::uint64_t bytes;
};

struct chosen_plan {
  std::uint64_t bytes;
  std::string text;
};

struct info_command {
  std::string topology, place = "compact";
  rank_t ranks = 0;
  bool environment = false;
  formats as_what;
};

/// Everything that `coset info` reports about this machine.
struct machine_report {
  topology machine;
  std::vector<processor> places;  ///< of the default team, or of as many ranks as were asked for
  std::vector<std::string> warnings;
  std::vector<cache> caches;  ///< of one core, as the C library reports them; 0 if unknown
  std::optional<double> quota;
  std::optional<numa::siblings> siblings;
  unsigned usable = 0;
  std::vector<unsigned> processors;  ///< of the team, by rank
  measure::latency_matrix latency;
  calibration::memory_facts memory;  ///< the facts that defaults use
  std::vector<chosen_plan> plans;    ///< of an allreduce of floats on the team
  std::vector<std::string> refused;  ///< rules of the environment or a profile that cannot serve the team
};

std::uint64_t cache_bytes(int name) { return static_cast<std::uint64_t>(std::max(sysconf(name), 0L)); }

std::vector<chosen_plan> default_plans(team& on) {
  std::vector<chosen_plan> plans;
  for (std::uint64_t bytes = 8; bytes <= 64 << 20; bytes *= 8) {
    plans.push_back({bytes, make_plan<float>(on, bytes / sizeof(float)).describe()});
  }
  return plans;
}

/// If ranks outnumber processors, they share them: the library allows it, and a warning reports it.
void place_team(info_command const& asked, machine_report& found) {
  rank_t const ranks = asked.ranks != 0 ? asked.ranks : found.machine.cores();
  bool const enough = ranks <= found.machine.processors.size();
  placement const how = placement_named(asked.place);
  found.places = numa::place_or_share(found.machine, ranks, how);
  for (auto const& p : found.places) found.processors.push_back(p.os_index);
  placement_findings findings{.usable = found.usable, .pinned = numa::binding_wanted()};
  if (findings.pinned) findings.seen = processors_seen(found.machine, found.places, how);
  found.warnings = placement_warnings(found.places, findings);
  if (enough) found.latency = measure::latency_probe(found.processors).measure();
  team as_asked(found.machine, {.ranks = ranks, .place = how});
  found.plans = default_plans(as_asked);
  found.refused = as_asked.state().plans.refused_rules();
}

machine_report look_around(info_command const& asked, topology machine) {
  machine_report found;
  found.machine = std::move(machine);
  require_room_for(asked.ranks, found.machine);
  found.siblings = numa::launched_siblings();
  found.caches = {{"L1d", cache_bytes(_SC_LEVEL1_DCACHE_SIZE)}, {"L2", cache_bytes(_SC_LEVEL2_CACHE_SIZE)}};
  if (found.machine.has_l3) found.caches.push_back({"L3", cache_bytes(_SC_LEVEL3_CACHE_SIZE)});
  found.memory = calibration::told_of(found.machine);
  found.quota = numa::processor_quota();
  found.usable = numa::usable_processors();
  place_team(asked, found);
  return found;
}

std::string latency_text(machine_report const& found) {
  if (found.latency.empty()) return "no latencies: ranks take turns on processors\n";
  table told("    ");
  told.with(as::numbers, {"=processor"});
  for (unsigned const p : found.processors) told.with({.digits = 0}, {fmt::format("{}", p)});
  for (std::size_t a = 0; a < found.latency.size(); ++a) {
    table::row row{{"processor", found.processors[a]}};
    for (std::size_t b = 0; b < found.latency.size(); ++b)
      row[fmt::format("{}", found.processors[b])] = a == b ? table::row() : table::row(found.latency[a][b]);
    told.add(std::move(row));
  }
  return fmt::format("one-way cache line latency, ns ({}):\n", measure::classify(found.latency).describe()) +
         told.as_text();
}

std::string team_text(topology const& machine, std::vector<processor> const& places) {
  return fmt::format("a team of {} ranks:\n", places.size()) + placement_table(machine, places).as_text() +
         placement_tree(machine, places);
}

/// A line or two.
std::string cache_lines_text(topology const& machine) {
  auto const length = machine.line_bytes > 0 ? fmt::format("{}", machine.line_bytes) : "?";
  auto text =
      fmt::format("cache lines of {} bytes; words of different threads are {} apart\n", length, detail::line_spacing);
  if (auto const warning = numa::line_warning(machine); !warning.empty()) text += fmt::format("warning: {}\n", warning);
  return text;
}

std::string as_text(machine_report const& found) {
  std::string text = numa::describe(found.machine);
  text += fmt::format("cores {}, usable at once {}, quota {}\n", found.machine.cores(), found.usable,
                      found.quota ? fmt::format("{:.2f}", *found.quota) : "none");
  if (found.siblings)
    text += fmt::format("process {} of {} on this host, each with a share of the cores unless they are bound\n",
                        found.siblings->own, found.siblings->all);
  text += "caches";
  for (auto const& c : found.caches)
    text += fmt::format(" {} {}", c.name, c.bytes > 0 ? bytes_for_people(c.bytes) : "?");
  text += fmt::format("\nof these, an allreduce counts on {} in total and {} for each core",
                      bytes_for_people(found.memory.last_cache_bytes), bytes_for_people(found.memory.own_cache_bytes));
  text += fmt::format("\na core that has read another's line {}, judged by its kind ({})\n",
                      found.memory.hands_over ? "may store into it at once" : "asks for it again before it stores",
                      found.machine.vendor.empty()
                          ? "unknown"
                          : fmt::format("{}, family {}", found.machine.vendor, found.machine.family));
  text += cache_lines_text(found.machine);
  text += fmt::format("instruction set {} (of {})\n", kernels::instruction_set(),
                      fmt::join(kernels::instruction_sets(), ", "));
  text += latency_text(found);
  text += team_text(found.machine, found.places);
  for (auto const& warning : found.warnings) text += fmt::format("warning: {}\n", warning);
  text += "its allreduce of floats (coset why has the reasons):\n";
  auto plans = table("  ").with(as::bytes, {"size"}).with(as::words, {"plan"});
  for (auto const& p : found.plans) plans.add({{"size", p.bytes}, {"plan", p.text}});
  text += plans.lines();
  for (auto const& why : found.refused) text += fmt::format("passed over: {}\n", why);
  if (!runtime::sleepers_pay()) text += fmt::format("warning: {}\n", runtime::without_membarrier);
  return text;
}

nlohmann::ordered_json memories_json(topology const& machine) {
  auto all = nlohmann::ordered_json::array();
  for (auto const& m : machine.memories) {
    auto access = nlohmann::ordered_json::array();
    for (auto const& from : m.access)
      access.push_back({{"bandwidth_mib_per_s", from.bandwidth},
                        {"latency_ns", from.latency},
                        {"distance", from.distance},
                        {"local", from.local}});
    all.push_back({{"os_index", m.node.os_index},
                   {"bytes", m.node.bytes},
                   {"tier", numa::names_of_tiers[static_cast<std::size_t>(m.tier)]},
                   {"type", m.type},
                   {"access", access}});
  }
  return all;
}

/// The facts that are known of any machine.
nlohmann::ordered_json machine_json(topology const& machine, std::vector<processor> const& places) {
  nlohmann::ordered_json processors = nlohmann::ordered_json::array(), nodes = nlohmann::ordered_json::array();
  for (auto const& p : machine.processors) {
    processors.push_back({{"os_index", p.os_index},
                          {"core", p.core},
                          {"l2", p.l2},
                          {"l3", l3_json(machine, p)},
                          {"node", p.node},
                          {"package", p.package},
                          {"kind", p.kind},
                          {"thread", p.thread}});
  }
  for (auto const& n : machine.nodes) nodes.push_back({{"os_index", n.os_index}, {"bytes", n.bytes}});
  nlohmann::ordered_json json{{"coset_info", 2},          {"topology", machine.name}, {"cores", machine.cores()},
                              {"processors", processors}, {"nodes", nodes},           {"distances", machine.distances}};
  json["memories"] = memories_json(machine);
  json.update({{"line_bytes", machine.line_bytes}, {"line_spacing", detail::line_spacing}});
  json.update(placement_json(machine, places));
  return json;
}

nlohmann::ordered_json as_json(machine_report const& found) {
  nlohmann::ordered_json caches = nlohmann::ordered_json::object(), plans = nlohmann::ordered_json::array();
  for (auto const& c : found.caches) caches[c.name] = c.bytes;
  for (auto const& p : found.plans) plans.push_back({{"size", p.bytes}, {"plan", p.text}});
  nlohmann::ordered_json quota;
  if (found.quota) quota = *found.quota;
  nlohmann::ordered_json json = machine_json(found.machine, found.places);
  json.update(
      {{"warnings", found.warnings},
       {"usable_processors", found.usable},
       {"quota", quota},
       {"caches", caches},
       {"caches_counted_on", {{"together", found.memory.last_cache_bytes}, {"own", found.memory.own_cache_bytes}}},
       {"lines_are_handed_over", found.memory.hands_over},
       {"vendor", found.machine.vendor},
       {"family", found.machine.family},
       {"instruction_set", kernels::instruction_set()},
       {"instruction_sets", kernels::instruction_sets()},
       {"team", found.processors},
       {"state", measure::classify(found.latency).describe()},
       {"latency_ns", found.latency},
       {"allreduce_plans", plans},
       {"plans_passed_over", found.refused},
       {"membarrier", runtime::sleepers_pay()}});
  return json;
}

/// Shows another machine: measures nothing, and warns only of what its own processors show.
void show_machine(info_command const& asked, topology const& machine, std::string const& left_out = "") {
  rank_t const ranks = asked.ranks != 0 ? asked.ranks : machine.cores();
  require_room_for(ranks, machine);
  auto const places = numa::place_or_share(machine, ranks, placement_named(asked.place));
  if (asked.as_what.is_table()) {
    std::cout << asked.as_what.of(placement_table(machine, places), fmt::format("{} ranks on {}", ranks, machine.name));
  } else if (asked.as_what.json) {
    auto json = machine_json(machine, places);
    if (!left_out.empty()) json["left_out"] = left_out;
    std::cout << json.dump(1) << '\n';
  } else {
    std::cout << numa::describe(machine) << cache_lines_text(machine) << team_text(machine, places);
    if (!left_out.empty()) std::cout << "left out: " << left_out << '\n';
  }
}

void show_this_machine(info_command const& asked) {
  auto machine = this_machine([&] { return numa::machine_for(asked.ranks); });
  if (!machine.this_system) {
    constexpr auto left_out =
        "caches, quota, instruction set, latencies and plans, which are those of the machine that this runs on, while "
        "{} describes another";
    return show_machine(asked, machine, fmt::format(left_out, variables_of_other_machine()));
  }
  if (asked.as_what.is_table()) return show_machine(asked, machine);
  auto const found = look_around(asked, std::move(machine));
  std::cout << (asked.as_what.json ? as_json(found).dump(1) + '\n' : as_text(found));
}

}  // namespace

nlohmann::ordered_json machine_here() { return as_json(look_around({}, machine_to_measure())); }

void add_info(CLI::App& app) {
  auto const asked = std::make_shared<info_command>();
  auto& info = *app.add_subcommand("info", "Show this machine, the placement of ranks, latencies and default plans");
  info.add_option("--topology", asked->topology,
                  "Another machine, without measuring: a file of hwloc's XML or a synthetic description like "
                  "\"node:2 core:4 pu:1\"; \"machine\" is this one");
  add_ranks(info, asked->ranks, "Ranks to place; default: one per core");
  add_place(info, asked->place);
  asked->as_what.add_to(info, "The places of the ranks, as CSV");
  info.add_flag("--environment", asked->environment,
                "The environment variables that coset reads, with their values here, instead of the machine");
  info.callback([asked] {
    if (asked->environment)
      std::cout << (asked->as_what.json ? environment_json().dump(1) + '\n' : environment_text());
    else
      asked->topology.empty() ? show_this_machine(*asked) : show_machine(*asked, machine_named(asked->topology));
  });
}

}  // namespace coset::cli
