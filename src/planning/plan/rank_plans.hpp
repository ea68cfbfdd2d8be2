// SPDX-License-Identifier: Apache-2.0
// The plans that one rank has called.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "planning/plan/plan_store.hpp"
#include "planning/plan/shape.hpp"

namespace coset::planning {

/// By shape, from the store; ranks that make the same call share them. Direct-mapped in front, so that a loop over the same
/// few shapes looks nothing up.
struct rank_plans {
  explicit rank_plans(plan_store& of_team) : store(of_team) {}

  static constexpr std::size_t front_size = 8;
  /// Shapes kept; with more, those are forgotten that have not been called since the last time. So a rank has what it has called for as
  /// many shapes more: what ranks learn about a shape lives as long as one of them has it, and must not end between the first
  /// rank's call and the last one's, who may be two operations behind.
  static constexpr std::size_t most = 1024;

  plan_store& store;
  using entry = std::pair<shape, detail::bound_plan const*>;
  std::array<entry, front_size> front{};
  using bound_plans = std::unordered_map<shape, std::shared_ptr<detail::bound_plan const>, shape_hash>;
  bound_plans all;

  /// The plan of the call that was noted last, if this one is the same on the same arrays: what was right about it
  /// still is.
  detail::bound_plan const* again(detail::call const& c) const noexcept {
    bool const same = c.in == latest_.in && c.out == latest_.out && c.count == latest_.count &&
                      c.reduction == latest_.reduction && c.what == latest_.what && c.root == latest_.root;
    if (!c.counts.empty() || latest_counts_ != 0) [[unlikely]]
      return same && counts_hash(c.counts) == latest_counts_ ? latest_plan_ : nullptr;
    return same ? latest_plan_ : nullptr;
  }
  void note(detail::call const& c, detail::bound_plan const& plan) noexcept {
    latest_ = c;
    latest_counts_ = counts_hash(c.counts);
    latest_plan_ = &plan;
  }

  /// Whether this call is the one for which the plan was bound here: the rank may never make another. Says so once.
  bool is_first_call(detail::bound_plan const& plan) noexcept { return std::exchange(bound_last_, 0) == plan.id; }

  /// What a plan object's latest execution came to.
  struct execution {
    std::uint64_t plan = 0;  ///< the id of the plan for separate arrays: used for one only, as an address is not
    detail::plan_arrays arrays{};
    bool is_in_place = false;
    void const* in = nullptr;
    void* out = nullptr;
  };
  /// That of the same plan on the same arrays, or null.
  execution const* again(detail::plan_pair const& plans, detail::plan_arrays const& arrays) const noexcept {
    bool const same = latest_execution_.plan == plans.apart->id && latest_execution_.arrays.in == arrays.in &&
                      latest_execution_.arrays.out == arrays.out &&
                      latest_execution_.arrays.in_count == arrays.in_count &&
                      latest_execution_.arrays.out_count == arrays.out_count;
    return same && (!latest_execution_.is_in_place || plans.in_place != nullptr) ? &latest_execution_ : nullptr;
  }
  void note(execution const& e) noexcept { latest_execution_ = e; }

  /// The plan that the library chooses for a call: bound the first time, found again after. May throw lacks_staging.
  /// `idle`: no operation is under way that needs its plan. `tells`: of all ranks, this one tells the log.
  detail::bound_plan const& plan_for(detail::call const& c, bool idle, bool tells) {
    shape const key = shape::of(c);
    auto const& [known, plan] = front_of(key);
    return plan != nullptr && known == key ? *plan : bind_anew(c, key, idle, tells);
  }

 private:
  /// Indexed by the product's high bits, which depend on the whole hash; its low bits depend on neither length, type nor
  /// root.
  entry& front_of(shape const& key) {
    return front[key.hash() * 0x9e37'79b9'7f4a'7c15u >> (64 - std::bit_width(front_size - 1))];
  }
  detail::bound_plan const& bind_anew(detail::call const&, shape const&, bool idle, bool tells);

  bound_plans before_;               ///< until as many others have come; null where they have been called again
  detail::call latest_{};            ///< whose counts are gone
  std::uint64_t latest_counts_ = 0;  ///< hash
  detail::bound_plan const* latest_plan_ = nullptr;  ///< as long as `all` has it
  execution latest_execution_;
  std::uint64_t bound_last_ = 0;  ///< id of a plan that no call has had yet, if that was the last to be bound
};

}  // namespace coset::planning
