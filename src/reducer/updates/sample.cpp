// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>

#include "coset/updates/choice.hpp"

namespace coset::inline COSET_ABI::detail {
namespace {

/// How often the groups of sorted keys occur.
struct occurrences {
  double keys = 0, groups = 0, once = 0;
};

/// Of g groups that are touched alike, n keys meet about m = g·(1 − e^(−n/g)). Newton's method finds n/g, from a
/// number below it: m/n falls as it grows, and is 0.43 where it is 2.
double keys_of_each(occurrences const& of) {
  double const wanted = of.groups / of.keys;  // (1 − e^(−x)) / x
  double x = wanted < 0.43 ? 0.86 / wanted : 2 * (1 - wanted);
  for (int step = 0; step < 6; ++step) {
    double const rest = std::exp(-x), now = (1 - rest) / x, slope = (rest - now) / x;
    x = std::max(x - (now - wanted) / slope, 1e-9);
  }
  return x;
}

/// Groups that are touched alike have about as many that occur once. More are a tail of rare ones besides some popular: the
/// bound is two standard deviations.
bool has_tail(occurrences const& of, double each) {
  double const expected = of.keys * std::exp(-each);
  return of.once > expected + 2 * std::sqrt(expected * (1 - expected / of.keys) + 1);
}

}  // namespace

/// Keys that follow each other in the loop are a third of all ranks apart in the mean if they come in no order.
void key_sample::sort() noexcept {
  // In one word with the time at which it was seen, a key is sorted in half the time; no array has elements of 2^55.
  constexpr unsigned time_bits = std::bit_width(most - 1);
  for (std::size_t k = 0; k < count_; ++k) keys_[k] = keys_[k] << time_bits | k;
  std::sort(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(count_));
  std::array<std::uint32_t, most> rank;
  for (std::size_t k = 0; k < count_; ++k) {
    rank[keys_[k] & (most - 1)] = static_cast<std::uint32_t>(k);
    keys_[k] >>= time_bits;
  }
  double apart = 0;
  for (std::size_t k = 1; k < count_; ++k) apart += std::abs(static_cast<double>(rank[k]) - rank[k - 1]);
  auto const n = static_cast<double>(count_);
  if (count_ > 1) at_a_time_ = std::min(3 * apart / (n - 1) / n, 1.0);
}

/// A tail shows more groups for ever: as a power of the number of keys (Heaps 1978), whose exponent is the share of groups
/// that occur once (Karlin 1967).
key_sample::groups_touched key_sample::touched(unsigned shift, double groups, double updates) const noexcept {
  occurrences found;
  found.keys = static_cast<double>(count_);
  for (std::size_t k = 0; k < count_;) {
    std::size_t const first = k;
    while (k < count_ && keys_[k] >> shift == keys_[first] >> shift) ++k;
    ++found.groups;
    if (k - first == 1) ++found.once;
  }
  if (found.groups >= found.keys) return {groups, groups, 1};
  double const each = keys_of_each(found);
  double const alike = std::clamp(found.keys / each, found.groups, groups);
  if (!has_tail(found, each)) return {alike, alike, 1};
  double const hot = found.groups - found.once;
  double const all = found.groups * std::pow(updates / found.keys, found.once / found.groups);
  return {std::min(all, groups), hot, 1 - found.once / found.keys};
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

}  // namespace coset::detail
