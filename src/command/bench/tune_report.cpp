// SPDX-License-Identifier: Apache-2.0
#include "command/bench/tune_report.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "command/bytes.hpp"
#include "command/table.hpp"
#include "planning/program/plan_text.hpp"

namespace coset::cli {
namespace {

std::string line_of(contest const& c) {
  return fmt::format(
      "{} of {}: {} along the clusters against {} flat, {}: {}\n", name_of(c.what), bytes_for_people(c.bytes), c.along,
      c.flat.empty() ? "the default" : c.flat, c.times,
      c.chosen ? "along the clusters, since it is clearly better" : "flat, since nothing along them is clearly better");
}

void add(calibration::rule const& r, char const* as_long_as, table& to) {
  to.add({{"verb", name_of(r.what)},
          {"from", r.from},
          {"to", r.to == SIZE_MAX ? table::row("any") : table::row(r.to)},
          {"plan", program::text_of(r.how)},
          {"note", as_long_as}});
}

/// Beside what defaults assume.
std::string costs_of(calibration::memory_costs const& found) {
  constexpr calibration::memory_costs usual;
  if (found == usual) return "";
  std::string text = "costs in ns, of a byte or each time (by default):";
  for (auto const& each : calibration::costs_by_name)
    text += fmt::format(" {} {:.3g} ({:.3g})", each.name, found.*each.value * 1e9, usual.*each.value * 1e9);
  return text + '\n';
}

}  // namespace

std::string tune_report(std::vector<contest> const& contests, calibration::profile const& found,
                        std::string const& file) {
  std::string text;
  for (contest const& c : contests) text += line_of(c);
  text += fmt::format("machine {}, {} ranks: alpha {:.0f} ns, lambda {:.0f} ns per peer, beta {:.3f} ns per byte\n",
                      found.fingerprint, found.processors.size(), found.alpha, found.lambda, found.beta);
  text += costs_of(found.costs);
  if (found.rules.empty() && found.hidden.rules.empty()) text += "no plan was clearly better than the defaults\n";
  auto rules = table().with(as::words, {"verb"}).with(as::bytes, {"from", "to"}).with(as::words, {"plan", "=note"});
  for (auto const& r : found.hidden.rules) add(r, "while the clusters are there", rules);
  for (auto const& r : found.rules) add(r, "", rules);
  return text + (rules.rows().empty() ? "" : rules.as_text()) + "kept in " + file + '\n';
}

}  // namespace coset::cli
