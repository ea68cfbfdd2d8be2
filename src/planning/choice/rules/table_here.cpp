// SPDX-License-Identifier: Apache-2.0
// The table of a team on this machine: with rules along hidden clusters if these still exist.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text/format.hpp"
#include "base/text/log.hpp"
#include "numa/binding.hpp"
#include "planning/calibration/fit.hpp"
#include "planning/choice/rules/table.hpp"

namespace coset::choice {
namespace {

void log(std::string const& what) {
  if (text::plans_are_logged()) text::complain(what);
}

/// True if the team's processors are the profile's, in its order.
bool brought_into_order(std::vector<processor>& places, bool in_any_order, std::vector<unsigned> const& wanted) {
  std::vector<processor> ordered;
  for (unsigned const os_index : wanted) {
    auto const at = std::ranges::find(places, os_index, &processor::os_index);
    if (at != places.end()) ordered.push_back(*at);
  }
  if (ordered.size() != wanted.size() || ordered.size() != places.size()) return false;
  if (!in_any_order && !std::ranges::equal(ordered, places, {}, &processor::os_index, &processor::os_index))
    return false;
  places = std::move(ordered);
  return true;
}

}  // namespace

table choices_on(std::vector<processor>& places, bool in_any_order, calibration::profile const& found, unsigned usable,
                 calibration::prober const& probe) {
  table made = table::of_environment();
  std::vector<processor> ordered = places;
  if (!found.hidden.levels.empty() && places.size() <= usable &&
      brought_into_order(ordered, in_any_order, found.processors)) {
    auto const now = calibration::look_again(found, probe);
    log(text::format("the clusters of {} are {}: {}", found.date,
                     now.holds ? "there, plans along them in force" : "gone, flat plans in force", now.because));
    if (now.holds) {
      places = std::move(ordered);
      calibration::mark(places, found.hidden.levels);
      for (rule const& r : found.hidden.rules) made.append(r);
    }
  }
  for (rule const& r : found.rules) made.append(r);
  made.set(found.costs);
  return made;
}

table choices_here(std::vector<processor>& places, bool in_any_order) {
  auto const found = calibration::find_profile(calibration::machine_tuned_for());
  if (!found) return table::of_environment();
  unsigned const usable = found->hidden.levels.empty() ? 0 : numa::usable_processors();
  return choices_on(places, in_any_order, *found, usable, calibration::ping_pong());
}

}  // namespace coset::choice
