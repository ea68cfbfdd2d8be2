// SPDX-License-Identifier: Apache-2.0
#include "planning/choice/explain.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/text/format.hpp"
#include "planning/choice/storages.hpp"
#include "planning/schedule/registry/permutation.hpp"

namespace coset::choice {
namespace {

/// Whether copies are forwarded or pushed is no choice, but follows from the levels.
bool is_same(program::policy const& a, program::policy const& b) {
  return a.first == b.first && a.later == b.later && a.streams == b.streams && a.returns == b.returns &&
         (a.how == program::copies::pull) == (b.how == program::copies::pull);
}

/// Of other schedules than products, what is left of the cheapest product's time.
constexpr char const* gains_too_little =
    "schedules that are no products of full folds have to be {:.0f} % cheaper than the "
    "cheapest of these";
constexpr char const* measured_only =
    "as long as nothing is measured it is no cheaper, and measurements choose storages only, so "
    "that bits stay the same";
constexpr char const* loses_values = "some value would be lost in this storage";

/// In the order of ranks, which is no matter of the schedule.
bool is_same_but_order(schedule::algorithm how, schedule::algorithm other) {
  how.parameters.erase(schedule::permute);
  other.parameters.erase(schedule::permute);
  return how == other;
}

/// Why what is cheaper than the chosen one is not chosen.
void name_rules(explanation& found) {
  double product = std::numeric_limits<double>::max();
  for (explained const& e : found.candidates)
    if (e.kind != schedule_kind::other) product = std::min(product, e.unmeasured);
  for (explained& e : found.candidates) {
    if (!e.removed_by.empty()) continue;
    bool const is_same_schedule = e.what.algorithm == found.chosen.what.algorithm;
    bool const is_dearer = e.seconds() >= found.chosen.seconds() * (1 - equal_within);
    if (e.kind == schedule_kind::other && found.gain < 1 && e.unmeasured >= found.gain * product)
      e.removed_by = text::format(gains_too_little, 100 * (1 - found.gain));
    else if (!is_dearer && is_same_schedule)
      e.removed_by = loses_values;
    else if (!is_dearer && e.unmeasured >= found.chosen.unmeasured * (1 - equal_within))
      e.removed_by = measured_only;
  }
}

}  // namespace

explanation explain(question const& asked, candidates::counting const& count) {
  question const q = as_served(asked);
  candidates const search(q);
  auto const begin = std::chrono::steady_clock::now();
  answer const chosen = choose(q);
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  explanation result{{}, search.gain(), took.count(), {}};
  // What is chosen has been made, however long that takes.
  auto const counting = [&](schedule::algorithm const& how, schedule::demand const& wanted,
                            schedule::level_machine const& on) -> std::optional<schedule::candidate> {
    try {
      return is_same_but_order(how, chosen.algorithm) ? schedule::count_proved(how, wanted, on)
                                                      : count(how, wanted, on);
    } catch (schedule::no_room const&) {
      ++result.not_counted;
      return std::nullopt;
    }
  };
  auto const priced = [&](priced_schedule const& s, program::policy const& storage) {
    return explained{{s.algorithm, storage},
                     s.kind,
                     priced_here(s.steps, q.memory.costs),
                     price_of(q, storage),
                     search.seconds_unmeasured(s),
                     s.removed_by != nullptr ? s.removed_by : ""};
  };
  for (priced_schedule const& schedule : search.all(counting)) {
    std::vector<explained> here;
    for (program::policy const& storage : storages_for(q, schedule.kind)) here.push_back(priced(schedule, storage));
    if (here.empty()) continue;
    std::ranges::stable_sort(here, {}, &explained::seconds);
    if (schedule.algorithm == chosen.algorithm) {
      auto const own =
          std::ranges::find_if(here, [&](explained const& e) { return is_same(e.what.storage, chosen.storage); });
      result.chosen = own != here.end() ? *own : priced(schedule, chosen.storage);
      result.chosen.what = chosen;
    } else {
      here.resize(1);
    }
    result.candidates.insert(result.candidates.end(), here.begin(), here.end());
  }
  std::ranges::stable_sort(result.candidates, {}, &explained::seconds);
  name_rules(result);
  return result;
}

}  // namespace coset::choice
