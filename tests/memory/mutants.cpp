// SPDX-License-Identifier: Apache-2.0
// Each order of an atomic operation that the protocols meet, made weaker by one degree: some execution has to go wrong, or
// the order is stronger than it need be, and explained.txt says why.
//
// usage: memory_mutants [--explained FILE] [--only WORDS] [--list]
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "memory/scenarios.hpp"
#include "memory/sites.hpp"

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

std::vector<mutant> all_mutants(std::vector<scenario> const& scenarios) {
  std::map<std::string, mutant> all;
  for (std::size_t s = 0; s < scenarios.size(); ++s) {
    forget_sites();
    explore(scenarios[s].set_up(), scenarios[s].within);
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
  for (auto& [key, made] : all) in_order.push_back(std::move(made));
  return in_order;
}

/// In a process of its own, as what fails leaves its threads where they are.
bool is_killed_by(scenario const& by, mutant const& m) {
  pid_t const child = fork();
  if (child == 0) {
    alarm(60);
    auto const make = by.set_up();
    weaken(m.at, m.to);
    _exit(explore(make, by.within).fault.empty() ? 0 : 1);
  }
  int how = 0;
  waitpid(child, &how, 0);
  return !WIFEXITED(how) || WEXITSTATUS(how) != 0;
}

/// The lines of a file that says of each survivor why it is one: "PLACE -> ORDER: REASON". Lines of code move, so that a
/// place is told by its file and by the line's text.
std::set<std::string> explained_in(char const* file) {
  std::set<std::string> all;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] != '#' && line[0] != ' ') all.insert(line);
  }
  return all;
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

int judge(char const* explained_file, std::string const& only, std::string const& root, bool list) {
  auto const scenarios = all_scenarios();
  auto const explained = explained_in(explained_file);
  std::size_t dead = 0, known = 0;
  std::set<std::string> met;
  std::vector<std::string> survivors;
  for (mutant const& m : all_mutants(scenarios)) {
    std::string const text = text_of(m), stable = by_text(text, root);
    if (text.find(only) == std::string::npos) continue;
    met.insert(stable);
    if (list) {
      std::cout << text << "\n";
      continue;
    }
    auto const killer = std::ranges::find_if(m.met_by, [&](std::size_t s) { return is_killed_by(scenarios[s], m); });
    if (killer != m.met_by.end()) {
      ++dead;
      std::cout << text << ": " << scenarios[*killer].name << std::endl;
      if (explained.contains(stable)) survivors.push_back(stable + " is explained, but dies");
    } else if (explained.contains(stable)) {
      ++known;
    } else {
      survivors.push_back(stable);
    }
  }
  for (std::string const& each : survivors) std::cout << "SURVIVES " << each << "\n";
  std::cout << dead << " die, " << known << " are explained, " << survivors.size() << " survive\n";
  return survivors.empty() ? 0 : 1;
}

}  // namespace
}  // namespace coset::memory_test

int main(int count, char** words) {
  char const *explained = "/dev/null", *only = "", *root = ".";
  bool list = false;
  for (int k = 1; k < count; ++k) {
    auto const is = [&](char const* option) { return std::strcmp(words[k], option) == 0 && k + 1 < count; };
    if (is("--explained"))
      explained = words[++k];
    else if (is("--only"))
      only = words[++k];
    else if (is("--root"))
      root = words[++k];
    else
      list = std::strcmp(words[k], "--list") == 0;
  }
  return coset::memory_test::judge(explained, only, root, list);
}
