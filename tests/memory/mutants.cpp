// SPDX-License-Identifier: Apache-2.0
// Each order of an atomic operation that the protocols meet, made weaker by one degree: some execution has to go wrong, or
// the order is stronger than it need be, and explained.txt says why. Which scenario goes wrong is known for most, and they
// are tried first.
//
// usage: memory_mutants [--root SOURCES] [--explained FILE] [--killers FILE] [--only WORDS] [--all yes]
// --all: also those that are explained, and whatever else scenarios meet in all of their executions. What it prints are
// the lines of killers.txt.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "memory/explorer/sites.hpp"
#include "memory/scenarios/scenarios.hpp"

namespace coset::memory_test {
namespace {

struct mutant {
  std::string place;  ///< with kind and order
  site at;
  std::memory_order to;
  std::vector<std::size_t> met_by;  ///< scenarios
};

std::string text_of(mutant const& m) {
  return m.place + " -> " + (m.at.kind == access_kind::fence_of_all ? "left out" : name_of(m.to));
}

/// What scenarios meet in so many executions. Those that are quickly explored come first among `met_by`.
std::vector<mutant> all_mutants(std::vector<scenario> const& scenarios, std::uint64_t most_executions) {
  std::map<std::string, mutant> all;
  std::vector<std::uint64_t> executions;
  for (std::size_t s = 0; s < scenarios.size(); ++s) {
    forget_sites();
    bounds within = scenarios[s].within;
    within.executions = std::min(within.executions, most_executions);
    within.random = std::min(within.random, most_executions);
    executions.push_back(explore(scenarios[s].set_up(), within).executions);
    for (auto const& [place, met] : sites_met()) {
      for (std::memory_order const to : weaker_than(met.kind, met.order)) {
        mutant& made =
            all.try_emplace(place + name_of(to), mutant{place, {met.kind, met.order, {}}, to, {}}).first->second;
        made.at.addresses.insert(made.at.addresses.end(), met.addresses.begin(), met.addresses.end());
        made.met_by.push_back(s);
      }
    }
  }
  std::vector<mutant> in_order;
  for (auto& [key, made] : all) {
    std::ranges::sort(made.met_by, {}, [&](std::size_t s) { return std::pair(executions[s], s); });
    in_order.push_back(std::move(made));
  }
  return in_order;
}

/// In processes of their own, as what fails leaves its threads where they are. The first that goes wrong, or none.
std::optional<std::size_t> first_to_kill(std::vector<scenario> const& scenarios, mutant const& m) {
  for (std::size_t const s : m.met_by) {
    pid_t const child = fork();
    if (child == 0) {
      auto const make = scenarios[s].set_up();
      weaken(m.at, m.to);
      _exit(explore(make, scenarios[s].within).fault.empty() ? 0 : 1);
    }
    int how = 0;
    waitpid(child, &how, 0);
    if (!WIFEXITED(how)) throw std::runtime_error(text_of(m) + " ends the explorer itself");
    if (WEXITSTATUS(how) != 0) return s;
  }
  return {};
}

/// A process for each mutant, as many at once as there are processors. [mutant]: as above.
std::vector<std::optional<std::size_t>> judge_all(std::vector<scenario> const& scenarios,
                                                  std::vector<mutant> const& all) {
  std::vector<std::optional<std::size_t>> killers(all.size());
  std::map<pid_t, std::size_t> under_way;
  std::size_t const at_once = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t next = 0; next < all.size() || !under_way.empty();) {
    if (next < all.size() && under_way.size() < at_once) {
      pid_t const child = fork();
      if (child == 0) {
        auto const killer = first_to_kill(scenarios, all[next]);
        _exit(killer ? static_cast<int>(*killer) + 1 : 0);
      }
      under_way[child] = next++;
      continue;
    }
    int how = 0;
    pid_t const ended = wait(&how);
    std::size_t const which = under_way.at(ended);
    under_way.erase(ended);
    if (!WIFEXITED(how)) throw std::runtime_error(text_of(all[which]) + " could not be judged");
    if (WEXITSTATUS(how) != 0) killers[which] = static_cast<std::size_t>(WEXITSTATUS(how) - 1);
  }
  return killers;
}

/// The lines of a file, but for remarks and what continues a line.
std::vector<std::string> lines_of(std::string const& file) {
  std::vector<std::string> all;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] != '#' && line[0] != ' ') all.push_back(line);
  }
  return all;
}

/// [text of a mutant]: the scenario that has gone wrong, of lines "PLACE -> ORDER: SCENARIO".
std::map<std::string, std::string> killers_in(std::string const& file) {
  std::map<std::string, std::string> all;
  for (std::string const& line : lines_of(file)) {
    std::size_t const colon = line.rfind(": ");
    if (colon != std::string::npos) all[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return all;
}

void try_first(std::string const& name, std::vector<scenario> const& scenarios, std::vector<std::size_t>& of) {
  std::stable_partition(of.begin(), of.end(), [&](std::size_t s) { return scenarios[s].name == name; });
}

/// "src/a.cpp:7 load acquire" as "src/a.cpp: if (x.load(…)) load acquire", which outlives changes elsewhere in the file.
std::string by_text(std::string const& text, std::string const& root) {
  auto const colon = text.find(':'), blank = text.find(' ');
  if (colon == std::string::npos || blank < colon) return text;
  std::ifstream in(root + "/" + text.substr(0, colon));
  std::string line;
  for (long left = std::strtol(text.c_str() + colon + 1, nullptr, 10); left > 0 && std::getline(in, line); --left) {
  }
  line.erase(0, line.find_first_not_of(' '));
  return text.substr(0, colon) + ": " + line + text.substr(blank);
}

struct wishes {
  std::string root = ".", explained, killers, only;
  bool all = false;
};

int judge(wishes const& wanted) {
  constexpr std::uint64_t executions_to_meet_all = 300;
  auto const scenarios = all_scenarios();
  auto const lines = lines_of(wanted.explained);
  std::set<std::string> const explained(lines.begin(), lines.end());
  auto const killers = killers_in(wanted.killers);
  std::vector<mutant> all = all_mutants(scenarios, wanted.all ? UINT64_MAX : executions_to_meet_all);
  for (mutant& m : all) m.place = by_text(m.place, wanted.root);
  std::size_t dead = 0, known = 0, wrong = 0;
  std::erase_if(all, [&](mutant const& m) {
    bool const is_compilers = m.place.find(": static ") != std::string::npos;  // it guards their beginning
    if (is_compilers || m.place.starts_with("tests/") || text_of(m).find(wanted.only) == std::string::npos) return true;
    bool const is_known = !wanted.all && explained.contains(text_of(m));
    known += is_known ? 1 : 0;
    return is_known;
  });
  for (mutant& m : all) {
    auto const killer = killers.find(text_of(m));
    if (killer != killers.end()) try_first(killer->second, scenarios, m.met_by);
  }
  auto const killed_by = judge_all(scenarios, all);
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::string const text = text_of(all[k]);
    bool const is_explained = explained.contains(text);
    (killed_by[k] ? dead : is_explained ? known : wrong) += 1;
    if (killed_by[k]) {
      std::cout << text << ": " << scenarios[*killed_by[k]].name << "\n";
      if (is_explained) std::cout << "AND IS EXPLAINED\n";
      wrong += is_explained ? 1 : 0;
    } else if (!is_explained) {
      std::cout << "SURVIVES " << text << "\n";
    }
  }
  std::cout << "# " << dead << " orders are needed, " << known << " explained, " << wrong << " neither\n";
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace coset::memory_test

int main(int count, char** words) {
  coset::memory_test::wishes wanted;
  for (int k = 1; k + 1 < count; k += 2) {
    auto const is = [&](char const* option) { return std::strcmp(words[k], option) == 0; };
    if (is("--explained")) wanted.explained = words[k + 1];
    if (is("--killers")) wanted.killers = words[k + 1];
    if (is("--only")) wanted.only = words[k + 1];
    if (is("--root")) wanted.root = words[k + 1];
    if (is("--all")) wanted.all = true;
  }
  return coset::memory_test::judge(wanted);
}
