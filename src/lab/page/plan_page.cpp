// SPDX-License-Identifier: Apache-2.0
// Puts the page together: its parts are files of this folder, which the build makes constants of.
#include "lab/page/plan_page.hpp"

#include <array>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

#include "base/text/format.hpp"
#include "planning/schedule/files/plan_json.hpp"

namespace coset::schedule {
namespace {

constexpr std::string_view style =
#include "page.css.inc"
    ;
constexpr std::string_view body =
#include "page.html.inc"
    ;
constexpr std::array scripts{
    std::string_view(
#include "plan.js.inc"
        ),
    std::string_view(
#include "network.js.inc"
        ),
    std::string_view(
#include "layouts.js.inc"
        ),
    std::string_view(
#include "elements.js.inc"
        ),
    std::string_view(
#include "panel.js.inc"
        ),
    std::string_view(
#include "page.js.inc"
        ),
};

constexpr std::size_t most_entries = std::size_t{1} << 19;

void require_few(std::span<proved_plan const> plans) {
  std::size_t entries = 0;
  for (proved_plan const& p : plans) {
    entries += p.plan.sources.size();
    for (auto const& step : p.plan.steps) entries += step.size();
  }
  if (entries > most_entries)
    throw schedule_error(text::format(
        "a page of {} folds, copies and values read is more than a browser can hold, {}: take fewer ranks, or "
        "--view, which shows one rank's part",
        entries, most_entries));
}

// Nothing in the text of a script can end it, or begin a comment of HTML's: in JSON, < stands in strings only.
std::string for_script(std::string const& json) {
  std::string safe;
  safe.reserve(json.size());
  for (char const c : json) c == '<' ? safe += "\\u003c" : safe += c;
  return safe;
}

}  // namespace

void write_page(std::ostream& out, std::span<proved_plan const> plans) {
  require_few(plans);
  out << "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
         "script-src "
         "'unsafe-inline'\">\n"
         "<title>coset plan</title>\n<style>\n"
      << style << "</style>\n</head>\n<body>\n"
      << body << "<script type=\"application/json\" id=\"plans\">\n[";
  char const* between = "";
  for (proved_plan const& p : plans) {
    std::ostringstream json;
    write_plan(json, p.plan, p.found);
    out << between << for_script(json.str());
    between = ",";
  }
  out << "]</script>\n<script>\n";
  for (std::string_view const script : scripts) out << script << '\n';
  out << "</script>\n</body>\n</html>\n";
}

}  // namespace coset::schedule
