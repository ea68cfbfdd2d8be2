// SPDX-License-Identifier: Apache-2.0
#include "coset/updates/choice.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "coset/error.hpp"
#include "coset/updates/arguments.hpp"
#include "text/format.hpp"
#include "text/log.hpp"
#include "updates/prices.hpp"

namespace coset::inline COSET_ABI::detail {

using updates_room::name_of;
using updates_room::priced_way;

update_plan choose(update_facts const& of, scatter_options const& wanted) {
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
  bool const has_other_bits = wanted.by >= way::private_copies && !of.can.exact;
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

void key_sample::sort() noexcept { std::sort(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(count_)); }

/// Of g groups that are touched alike, n keys meet about m = g·(1 − e^(−n/g)). Newton's method finds n/g: m falls as it
/// grows.
double key_sample::touched(unsigned shift, double groups) const noexcept {
  double met = 0;
  for (std::size_t k = 0; k < count_; ++k) met += k == 0 || keys_[k] >> shift != keys_[k - 1] >> shift ? 1 : 0;
  auto const n = static_cast<double>(count_);
  if (met >= n) return groups;
  double const wanted = met / n;  // (1 − e^(−x)) / x
  double x = 2 * (1 - wanted);
  for (int step = 0; step < 6; ++step) {
    double const rest = std::exp(-x), now = (1 - rest) / x, slope = (rest - now) / x;
    x = std::max(x - (now - wanted) / slope, 1e-9);
  }
  return std::clamp(n / x, met, groups);
}

double key_sample::largest_share(unsigned shift) const noexcept {
  std::size_t run = 0, longest = 0;
  for (std::size_t k = 0; k < count_; ++k) {
    run = k > 0 && keys_[k] >> shift == keys_[k - 1] >> shift ? run + 1 : 1;
    longest = std::max(longest, run);
  }
  return count_ == 0 ? 0 : static_cast<double>(longest) / static_cast<double>(count_);
}

std::size_t key_sample::quantile(std::size_t part, std::size_t parts) const noexcept {
  return count_ == 0 ? 0 : keys_[count_ * part / parts];
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
