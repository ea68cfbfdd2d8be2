// SPDX-License-Identifier: Apache-2.0
// What each way of carrying out a loop of updates would cost.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "coset/updates/choice.hpp"

namespace coset::updates_room {

/// What prices are made from besides the loop. Counts: the same on machines of one kind.
struct machine_facts {
  std::size_t processors;       ///< that the process may use
  std::size_t own_cache_bytes;  ///< of a core, its L2
  static machine_facts const& of_this_machine();
};

struct priced_way {
  way by;
  bool possible;
  std::string why_not;  ///< in words, if it is not
  double seconds;
  double memory_bytes;  ///< besides the target
  double moved_bytes;   ///< between caches and memory, if nothing stays in a cache from one phase to the next
  detail::update_plan plan;
};

/// In the order of the enumeration, from one_thread on.
std::array<priced_way, 5> prices_of(detail::update_facts const&, scatter_options const&, machine_facts const&);
/// Of these.
priced_way const& best_of(std::array<priced_way, 5> const&, scatter_options const&, detail::update_facts const&);
/// The same of all, without a plan for a partition where that cannot be it.
priced_way cheapest(detail::update_facts const&, scatter_options const&, machine_facts const&);
/// Whether one thread is done, at the most that updates cost, before others would have gained their start and the choice. Of
/// facts without a sample.
bool is_too_little(detail::update_facts const&, machine_facts const&);

char const* name_of(way) noexcept;

}  // namespace coset::updates_room
