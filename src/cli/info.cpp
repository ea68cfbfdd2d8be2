// SPDX-License-Identifier: Apache-2.0
// `coset info`: the machine as this process finds it, and what follows from it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <coset/coset.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/latency.hpp"
#include "cli/bytes.hpp"
#include "cli/commands.hpp"
#include "kernels/kernels.hpp"
#include "numa/binding.hpp"
#include "numa/describe.hpp"
#include "numa/quota.hpp"

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

/// Everything that `coset info` says.
struct machine_report {
  topology machine;
  std::vector<cache> caches;  ///< of one core, as the C library reports them; 0 where it does not know
  std::optional<double> quota;
  unsigned usable = 0;
  std::vector<unsigned> processors;  ///< of the default team, by rank
  bench::latency_matrix latency;
  std::vector<chosen_plan> plans;  ///< of an allreduce of floats on the default team
};

std::uint64_t cache_bytes(int name) { return static_cast<std::uint64_t>(std::max(sysconf(name), 0L)); }

std::vector<chosen_plan> default_plans(team& on) {
  std::vector<chosen_plan> plans;
  for (std::uint64_t bytes = 8; bytes <= 64 << 20; bytes *= 8) {
    plans.push_back({bytes, make_plan<float>(on, bytes / sizeof(float)).describe()});
  }
  return plans;
}

machine_report look_around() {
  machine_report found;
  found.machine = topology::machine();
  found.caches = {{"L1d", cache_bytes(_SC_LEVEL1_DCACHE_SIZE)},
                  {"L2", cache_bytes(_SC_LEVEL2_CACHE_SIZE)},
                  {"L3", cache_bytes(_SC_LEVEL3_CACHE_SIZE)}};
  found.quota = numa::processor_quota();
  found.usable = numa::usable_processors();
  team by_default;
  for (auto const& p : found.machine.place(by_default.size(), placement::compact)) {
    found.processors.push_back(p.os_index);
  }
  found.latency = bench::latency_probe(found.processors).measure();
  found.plans = default_plans(by_default);
  return found;
}

std::string latency_table(machine_report const& found) {
  std::string text =
      fmt::format("one-way cache line latency, ns ({}):\n{:>8}", bench::classify(found.latency).describe(), "");
  for (unsigned const p : found.processors) text += fmt::format("{:>6}", p);
  for (std::size_t a = 0; a < found.latency.size(); ++a) {
    text += fmt::format("\n{:>8}", found.processors[a]);
    for (std::size_t b = 0; b < found.latency.size(); ++b) {
      text += a == b ? fmt::format("{:>6}", "-") : fmt::format("{:>6.0f}", found.latency[a][b]);
    }
  }
  return text + '\n';
}

std::string as_text(machine_report const& found) {
  std::string text = numa::describe(found.machine);
  text += fmt::format("cores {}, usable at once {}, quota {}\n", found.machine.cores(), found.usable,
                      found.quota ? fmt::format("{:.2f}", *found.quota) : "none");
  text += "caches";
  for (auto const& c : found.caches)
    text += fmt::format(" {} {}", c.name, c.bytes > 0 ? bytes_for_people(c.bytes) : "?");
  text += fmt::format("\ninstruction set {} (of {})\n", kernels::instruction_set(),
                      fmt::join(kernels::instruction_sets(), ", "));
  text += latency_table(found);
  text += fmt::format("a default team: {} ranks on processors {}\n", found.processors.size(),
                      fmt::join(found.processors, " "));
  text += "its allreduce of floats:\n";
  for (auto const& p : found.plans) text += fmt::format("{:>10}  {}\n", bytes_for_people(p.bytes), p.text);
  return text;
}

nlohmann::ordered_json as_json(machine_report const& found) {
  nlohmann::ordered_json processors = nlohmann::ordered_json::array(), caches = nlohmann::ordered_json::object(),
                         plans = nlohmann::ordered_json::array(), nodes = nlohmann::ordered_json::array();
  for (auto const& p : found.machine.processors) {
    processors.push_back({{"os_index", p.os_index},
                          {"core", p.core},
                          {"l2", p.l2},
                          {"l3", p.l3},
                          {"node", p.node},
                          {"package", p.package},
                          {"kind", p.kind},
                          {"thread", p.thread}});
  }
  for (auto const& n : found.machine.nodes) nodes.push_back({{"os_index", n.os_index}, {"bytes", n.bytes}});
  for (auto const& c : found.caches) caches[c.name] = c.bytes;
  for (auto const& p : found.plans) plans.push_back({{"size", p.bytes}, {"plan", p.text}});
  nlohmann::ordered_json quota;
  if (found.quota) quota = *found.quota;
  return {{"coset_info", 1},
          {"cores", found.machine.cores()},
          {"usable_processors", found.usable},
          {"quota", quota},
          {"processors", processors},
          {"nodes", nodes},
          {"distances", found.machine.distances},
          {"caches", caches},
          {"instruction_set", kernels::instruction_set()},
          {"instruction_sets", kernels::instruction_sets()},
          {"team", found.processors},
          {"state", bench::classify(found.latency).describe()},
          {"latency_ns", found.latency},
          {"allreduce_plans", plans}};
}

}  // namespace

void add_info(CLI::App& app) {
  auto const json = std::make_shared<bool>(false);
  auto& info = *app.add_subcommand("info", "The machine as found, its latencies, and the defaults that follow");
  info.add_flag("--json", *json, "As JSON");
  info.callback([json] {
    auto const found = look_around();
    std::cout << (*json ? as_json(found).dump(1) + '\n' : as_text(found));
  });
}

}  // namespace coset::cli
