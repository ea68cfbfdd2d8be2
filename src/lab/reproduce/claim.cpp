// SPDX-License-Identifier: Apache-2.0
// Numbers to verdicts.
#include "lab/reproduce/claim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace coset::cli::reproduction {
namespace {

/// Whole numbers as such, others with three digits that count.
std::string text_of(double number) {
  if (number == std::round(number) && std::abs(number) < 1e9) return fmt::format("{:.0f}", number);
  return std::abs(number) >= 100 ? fmt::format("{:.0f}", number) : fmt::format("{:.3g}", number);
}

/// The worse of two; what agrees gives way.
verdict worse(verdict a, verdict b) {
  if (a == verdict::disagrees || b == verdict::disagrees) return verdict::disagrees;
  return a == verdict::undecided ? a : b;
}

}  // namespace

verdict verdict_on(question const& asked, std::vector<value> const& values) {
  verdict found = values.empty() ? verdict::undecided : verdict::agrees;
  for (value const& one : values) {
    bool const agrees = asked.agrees.has(one.number), disagrees = asked.disagrees.has(one.number);
    if (agrees && disagrees)
      throw argument_error(fmt::format("{} both agrees ({}) and disagrees ({}): {}", one.number, asked.agrees.text(),
                                       asked.disagrees.text(), asked.what));
    found = worse(found, disagrees ? verdict::disagrees : agrees ? verdict::agrees : verdict::undecided);
  }
  return found;
}

std::string answer::text() const {
  if (!missing.empty()) return missing;
  if (!words.empty()) return words;
  auto const [least, most] = std::ranges::minmax(values, {}, &value::number);
  auto const low = text_of(least.number), high = text_of(most.number);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

std::optional<verdict> judged_claim::by(means how) const {
  std::optional<verdict> found;
  for (answer const& one : answers)
    if (one.to->by == how && one.missing.empty()) found = found ? worse(*found, one.found) : one.found;
  return found;
}

std::optional<verdict> judged_claim::overall() const {
  std::optional<verdict> all;
  for (std::size_t how = 0; how < means_names.size(); ++how)
    if (auto const one = by(static_cast<means>(how))) all = !all || *all == *one ? *one : verdict::undecided;
  return all;
}

std::string judged_claim::surprise() const {
  std::string text;
  for (std::size_t how = 0; how < means_names.size(); ++how) {
    auto const found = by(static_cast<means>(how));
    auto const known = of->finds[how].value_or(verdict::agrees);
    if (found && *found != known)
      text +=
          fmt::format("{}by {}: {}, not {}", text.empty() ? "" : "; ", means_names[how],
                      verdict_names[static_cast<std::size_t>(*found)], verdict_names[static_cast<std::size_t>(known)]);
  }
  return text;
}

}  // namespace coset::cli::reproduction
