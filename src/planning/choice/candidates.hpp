// SPDX-License-Identifier: Apache-2.0
// All schedules that may serve a question, with their prices.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "planning/choice/price.hpp"
#include "planning/schedule/model/demand.hpp"

namespace coset::choice {

/// A schedule and what its steps cost.
struct priced_schedule {
  schedule::algorithm algorithm;
  schedule_kind kind = schedule_kind::folds;
  schedule::price steps = {};
  char const* removed_by = nullptr;  ///< the rule that forbids it whatever it costs; null: none does
};

/// The search for a schedule. Depends on the question without its memory facts, so that what is measured cannot change
/// how values are bracketed.
class candidates {
 public:
  explicit candidates(question const&);

  /// The cheapest with its cheapest storage, of those that no rule removes; of equals the one with the fewest dimensions. Other
  /// schedules than products of full folds have to gain a tenth: their steps are counted exactly, but prices have been measured
  /// for products. Not so where nodes differ in size, which no product fits.
  priced_schedule cheapest() const;
  /// How other schedules than products are made and counted: schedule::count() or what finds the same.
  using counting = std::function<std::optional<schedule::candidate>(schedule::algorithm const&, schedule::demand const&,
                                                                    schedule::level_machine const&)>;
  /// Everything that can serve, other schedules made and counted, with the rules that remove them: for `coset why`. In no
  /// order.
  std::vector<priced_schedule> all(counting const& = schedule::count) const;
  /// With the storage that makes it cheapest as far as nothing has been measured, by which the schedule is chosen.
  double seconds_unmeasured(priced_schedule const&) const;

  /// What is left of the cheapest product's time if another schedule is taken.
  double gain() const;

 private:
  template <typename Visit>
  void for_each_product(Visit visit) const;
  schedule::price steps_of(std::vector<rank_t> const& dimensions, std::uint32_t saved_steps, verb) const;
  double moved_straight() const;
  double moved_by_storage() const;
  schedule::price priced_product(std::vector<rank_t> const& dimensions, std::uint32_t saved_steps) const;
  std::vector<priced_schedule> trees() const;
  double least_storage(schedule_kind) const;
  priced_schedule cheapest_on_levels() const;
  std::vector<priced_schedule> all_on_levels(counting const&) const;
  double bytes() const { return static_cast<double>(question_.bytes); }
  char const* why_no_others() const;
  schedule::demand demand_of_others() const;
  std::vector<std::pair<double, schedule::algorithm>> others_below(double seconds) const;
  priced_schedule priced_other(schedule::candidate const&) const;
  std::optional<priced_schedule> counted(schedule::algorithm const&, schedule::demand const&) const;
  std::optional<priced_schedule> counted_by(counting const&, schedule::algorithm const&, schedule::demand) const;

  question question_;
  schedule::level_machine machine_;
};

}  // namespace coset::choice
