// SPDX-License-Identifier: Apache-2.0
#include "planning/choice/rules/table.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/environment/variables.hpp"
#include "base/text/format.hpp"
#include "coset/error.hpp"
#include "planning/calibration/profile.hpp"
#include "planning/choice/rules/settings.hpp"
#include "planning/program/plan_text.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::choice {
namespace {

/// "0-32k", "32k-", or nothing.
void set_sizes(rule& r, std::string_view sizes) {
  auto const dash = sizes.find('-');
  if (dash == std::string_view::npos)
    throw argument_error(text::format("'{}' is not a range: write 0-32k or 32k-", sizes));
  r.from = program::parse_bytes(sizes.substr(0, dash));
  if (dash + 1 < sizes.size()) r.to = program::parse_bytes(sizes.substr(dash + 1));
  if (r.from >= r.to) throw argument_error(text::format("the range {} is empty", sizes));
}

rule parse_rule(verb what, std::string_view text) {
  rule r{what, 0, 0, SIZE_MAX, {}};
  // Neither storages nor sizes contain a colon.
  auto const close = text.rfind(')');
  auto const colon = text.find(':', close == std::string_view::npos ? 0 : close);
  r.how = plan_named(text.substr(0, colon));
  if (r.how.algorithm != "auto") schedule::require_sense(schedule::algorithm::parse(r.how.algorithm));
  if (colon != std::string_view::npos) set_sizes(r, text.substr(colon + 1));
  return r;
}

}  // namespace

std::vector<rule> parse_rules(verb what, std::string_view text) {
  std::vector<rule> rules;
  while (!text.empty()) {
    auto const end = std::min(text.find(';'), text.size());
    std::string_view const one = text.substr(0, end);
    try {
      if (!one.empty()) rules.push_back(parse_rule(what, one));
    } catch (error const& e) {
      throw argument_error(text::format("in '{}': {}", one, e.what()));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return rules;
}

table table::of_environment() {
  name_wrong_settings_once();
  table made;
  for (verb const what : all_verbs()) {
    std::string const name = environment::variable_of(what);
    try {
      for (rule& r : parse_rules(what, environment::plans_of(what))) {
        r.named_by = name;
        made.append(std::move(r));
      }
    } catch (error const& e) {
      throw argument_error(text::format("{}: {}", name, e.what()));
    }
  }
  return made;
}

table table::of_this_machine() {
  table made = of_environment();
  if (auto found = calibration::find_profile(calibration::machine_tuned_for())) {
    for (rule& r : found->rules) made.append(std::move(r));
    made.set(found->costs);
  }
  return made;
}

table table::without_clusters() const {
  table left = *this;
  std::erase_if(left.rules_, [](rule const& r) { return r.along_clusters; });
  return left;
}

rule const* table::find(verb what, rank_t ranks, std::size_t bytes, bool in_place) const noexcept {
  auto const found = std::ranges::find_if(rules_, [&](rule const& r) {
    return r.what == what && (r.ranks == 0 || r.ranks == ranks) && r.from <= bytes && bytes < r.to &&
           (!in_place || r.in_place_too);
  });
  return found == rules_.end() ? nullptr : &*found;
}

}  // namespace coset::choice
