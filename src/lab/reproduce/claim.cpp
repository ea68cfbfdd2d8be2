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

verdict of_number(claim const& of, question const& asked, double number) {
  if (std::isnan(number)) throw argument_error(fmt::format("claim {}: a number is none: {}", of.id, asked.what));
  bool const agrees = asked.agrees.has(number), disagrees = asked.disagrees.has(number);
  if (agrees && disagrees)
    throw argument_error(fmt::format("claim {}: {} both agrees ({}) and disagrees ({}): {}", of.id, number,
                                     asked.agrees.text(), asked.disagrees.text(), asked.what));
  return disagrees ? verdict::disagrees : agrees ? verdict::agrees : verdict::undecided;
}

/// Whether a number is of this setting: of all, unless its case ends with words of another or its question has them.
bool is_of(claim const& of, question const& asked, value const& one, std::string const& setting) {
  auto const has = [&](std::string const& words) {
    return one.of.ends_with(words) || asked.what.find(words) != std::string::npos;
  };
  return std::ranges::none_of(of.unknown, has) || has(setting);
}

/// Of all numbers of a setting; nothing if there are none.
std::optional<verdict> in_setting(claim const& of, question const& asked, std::vector<value> const& values,
                                  std::string const& setting) {
  std::optional<verdict> found;
  for (value const& one : values)
    if (is_of(of, asked, one, setting)) {
      auto const here = of_number(of, asked, one.number);
      found = found ? worse(*found, here) : here;
    }
  return found;
}

/// Of what each setting comes to, as a function of it says; nothing if none comes to anything.
template <typename OfSetting>
std::optional<verdict> over_settings(claim const& of, OfSetting of_setting) {
  if (of.unknown.empty()) return of_setting("");
  std::optional<verdict> all;
  for (std::string const& setting : of.unknown)
    if (auto const found = of_setting(setting)) all = !all || *all == *found ? *found : verdict::undecided;
  return all;
}

}  // namespace

verdict verdict_on(claim const& of, question const& asked, std::vector<value> const& values) {
  return over_settings(of, [&](std::string const& setting) { return in_setting(of, asked, values, setting); })
      .value_or(verdict::undecided);
}

std::string answer::text() const {
  if (!missing.empty()) return missing;
  if (!words.empty()) return words;
  auto const [least, most] = std::ranges::minmax(values, {}, &value::number);
  auto const low = text_of(least.number), high = text_of(most.number);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

std::optional<verdict> judged_claim::by(means how) const {
  return over_settings(*of, [&](std::string const& setting) {
    std::optional<verdict> found;
    for (answer const& one : answers)
      if (one.to->by == how && one.missing.empty())
        if (auto const here = in_setting(*of, *one.to, one.values, setting))
          found = found ? worse(*found, *here) : here;
    return found;
  });
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
