// SPDX-License-Identifier: Apache-2.0
#include "coset/updates/choice.hpp"

#include <initializer_list>

#include "base/text/format.hpp"
#include "base/text/log.hpp"
#include "coset/error.hpp"
#include "coset/updates/arguments.hpp"
#include "reducer/updates/prices.hpp"

namespace coset::inline COSET_ABI::detail {

using updates_room::name_of;
using updates_room::priced_way;

[[gnu::cold]] update_plan choose(update_facts const& of, scatter_options const& wanted) {
  if (wanted.by > way::atomics)
    throw argument_error(
        text::format("there is no way {} to carry out a loop of updates", static_cast<int>(wanted.by)));
  if (wanted.by == way::chosen && is_too_little_to_share(of)) return {};
  auto const& machine = updates_room::machine_facts::of_this_machine();
  if (wanted.by == way::chosen) {
    priced_way const best = updates_room::cheapest(of, wanted, machine);
    if (text::plans_are_logged()) [[unlikely]]
      text::complain(text::format("scatter_add of {} updates into {} elements by {} threads: {}", of.updates, of.length,
                                  of.threads, name_of(best.by)));
    return best.plan;
  }
  auto const all = updates_room::prices_of(of, wanted, machine);
  priced_way const& ordered = all[static_cast<std::size_t>(wanted.by) - 1];
  if (!ordered.possible)
    throw argument_error(text::format("scatter_add by {}: {}", name_of(wanted.by), ordered.why_not));
  bool const has_other_bits = wanted.by == way::private_copies ? !of.can.exact_copies
                              : wanted.by == way::atomics      ? !of.can.exact
                                                               : false;
  if (wanted.required == bits::serial && has_other_bits)
    throw argument_error(text::format(
        "scatter_add by {} with bits::serial: one_thread, owner_scan and partition have the bits of a serial "
        "loop",
        name_of(wanted.by)));
  return ordered.plan;
}

bool is_too_little_to_share(update_facts const& of) {
  return updates_room::is_too_little(of, updates_room::machine_facts::of_this_machine());
}

void require_one_length(std::initializer_list<std::size_t> all) {
  for (std::size_t const each : all)
    if (each != *all.begin())
      throw argument_error(text::format("arrays of {} and {} elements are updated at one index", *all.begin(), each));
}

void require_one_count(std::size_t keys, std::size_t values) {
  if (keys != values) throw argument_error(text::format("{} keys and {} values of updates", keys, values));
}

void refuse_key(std::size_t key, std::size_t iteration, std::size_t length) {
  throw argument_error(
      text::format("iteration {} updates element {} of {}", iteration, static_cast<std::int64_t>(key), length));
}

void refuse_index(std::size_t index, std::size_t dimension, std::size_t iteration, std::size_t extent) {
  throw argument_error(text::format("iteration {} updates element {} of {} in dimension {}", iteration,
                                    static_cast<std::int64_t>(index), extent, dimension));
}

void refuse_count(std::int64_t count) { throw argument_error(text::format("{} iterations of updates", count)); }

void refuse_mappings(std::size_t other) {
  throw argument_error(
      text::format("views of different extents are updated at one index: number 0 and number {}", other));
}

}  // namespace coset::detail
