// SPDX-License-Identifier: Apache-2.0
// The page's parts are files, put into the template where it names them; scripts make all else of the data.
#include "lab/report/page.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "command/bench/words.hpp"
#include "command/interruption.hpp"
#include "runtime/kernels/kernels.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

struct part {
  std::string_view name, text;
};

constexpr std::string_view page =
#include "page.html.inc"
    ;

constexpr std::array parts{
    part{
        "page.css",
#include "page.css.inc"
    },
    part{
        "parts.js",
#include "parts.js.inc"
    },
    part{
        "machine.js",
#include "machine.js.inc"
    },
    part{
        "chart.js",
#include "chart.js.inc"
    },
    part{
        "figures.js",
#include "figures.js.inc"
    },
    part{
        "scaling.js",
#include "scaling.js.inc"
    },
    part{
        "page.js",
#include "page.js.inc"
    },
    part{
        "uPlot.min.css",
#include "uPlot.min.css.inc"
    },
    part{
        "uPlot.iife.min.js",
#include "uPlot.iife.min.js.inc"
    },
    part{
        "LICENSE",
#include "LICENSE.inc"
    },
};

/// In JSON a < can only be inside a string, where it may be written like this.
std::string inside_a_script(std::string const& json) {
  std::string text;
  text.reserve(json.size());
  for (char const c : json)
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

/// What the data say by the names that programs know.
ordered_json words_of(ordered_json const& data) {
  auto states = ordered_json::object();
  auto const add = [&](ordered_json const& each) {
    auto const name = each["state"].get<std::string>();
    states[name] = state_in_words(name);
  };
  if (data.contains("bench"))
    for (auto const& size : data["bench"]["sizes"])
      for (auto const& state : size["states"]) add(state);
  if (data.contains("scaling"))
    for (auto const& run : data["scaling"]["runs"]) add(run);
  return {{"instruction_set", instruction_set_in_words(kernels::instruction_set())}, {"states", states}};
}

/// The text in the place of "{{name}}".
std::string named(std::string_view name, std::string const& data) {
  if (name == "data") return data;
  auto const* const found = std::ranges::find(parts, name, &part::name);
  if (found == parts.end()) throw std::logic_error("the page has no part " + std::string(name));
  return std::string(found->text);
}

}  // namespace

std::string report_page(ordered_json data) {
  data["words"] = words_of(data);
  data["interrupted"] = interrupted_status() != 0;
  auto const text = inside_a_script(data.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
  std::string made;
  for (auto rest = page; !rest.empty();) {
    auto const begin = rest.find("{{"), end = rest.find("}}", begin);
    made += rest.substr(0, begin);
    if (begin == std::string_view::npos) break;
    made += named(rest.substr(begin + 2, end - begin - 2), text);
    rest.remove_prefix(end + 2);
  }
  return made;
}

}  // namespace coset::cli
