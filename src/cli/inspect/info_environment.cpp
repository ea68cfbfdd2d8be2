// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect/info_environment.hpp"

#include <fmt/format.h>

#include "environment/variables.hpp"

namespace coset::cli {

std::string environment_text() {
  std::string text;
  for (auto const& each : environment::variables) {
    auto const set = environment::value_of(each);
    text += set.empty() ? fmt::format("{}\n", each.name) : fmt::format("{}={}\n", each.name, set);
    text += fmt::format("    {}\n    takes {}; without it: {}\n    read by {}\n", each.meaning, each.takes,
                        each.standard, each.readers);
  }
  return text;
}

nlohmann::ordered_json environment_json() {
  auto json = nlohmann::ordered_json::array();
  for (auto const& each : environment::variables) {
    json.push_back({{"name", each.name},
                    {"value", environment::value_of(each)},
                    {"takes", each.takes},
                    {"default", each.standard},
                    {"meaning", each.meaning},
                    {"readers", each.readers}});
  }
  return json;
}

}  // namespace coset::cli
