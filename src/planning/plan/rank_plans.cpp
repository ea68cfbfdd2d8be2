// SPDX-License-Identifier: Apache-2.0
#include "planning/plan/rank_plans.hpp"

namespace coset::planning {

detail::bound_plan const& rank_plans::bind_anew(detail::call const& c, shape const& key, bool idle, bool tells) {
  if (all.size() >= most && idle) {
    before_ = std::exchange(all, {});
    front = {};
    latest_plan_ = nullptr;
  }
  auto& bound = all[key];
  if (auto const kept = before_.find(key); !bound && kept != before_.end()) bound = std::move(kept->second);
  if (!bound) {
    bound = store.of_call(c);
    bound_last_ = bound->id;
    if (tells) store.log(*bound);
  }
  front_of(key) = {key, bound.get()};
  return *bound;
}

}  // namespace coset::planning
