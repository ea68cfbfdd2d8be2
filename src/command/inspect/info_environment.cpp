// SPDX-License-Identifier: Apache-2.0
#include "command/inspect/info_environment.hpp"

#include <fmt/format.h>

#include <string_view>

#include "base/environment/variables.hpp"

namespace coset::cli {
namespace {

/// The table marks words as Markdown does.
std::string plain(std::string_view marked) {
  std::string text(marked);
  std::erase(text, '`');
  return text;
}

}  // namespace

std::string environment_text() {
  std::string text;
  for (auto const& each : environment::variables) {
    auto const set = environment::value_of(each);
    text += set.empty() ? fmt::format("{}\n", each.name) : fmt::format("{}={}\n", each.name, set);
    text += fmt::format("    {}\n    takes {}; without it: {}\n    read by {}\n", plain(each.meaning),
                        plain(each.takes), plain(each.standard), plain(each.readers));
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
