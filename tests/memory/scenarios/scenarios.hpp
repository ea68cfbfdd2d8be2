// SPDX-License-Identifier: Apache-2.0
// The protocols by which ranks meet, as small programs of the library's own code.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "memory/explorer/explorer.hpp"

namespace coset::memory_test {

struct scenario {
  std::string name;
  std::function<std::function<program()>()> set_up;  ///< a team, and what makes its program for each execution
  bounds within = {};
};

std::vector<scenario> collectives();
std::vector<scenario> standing_still();
std::vector<scenario> calls_that_learn();
std::vector<scenario> memberships();  ///< who is a rank, and of which team
std::vector<scenario> openmp_regions();
std::vector<scenario> threads_that_meet();  ///< outside collectives

inline std::vector<scenario> all_scenarios() {
  std::vector<scenario> all = collectives();
  for (auto const more : {standing_still, calls_that_learn, memberships, openmp_regions, threads_that_meet}) {
    for (scenario& each : more()) all.push_back(std::move(each));
  }
  return all;
}

}  // namespace coset::memory_test
