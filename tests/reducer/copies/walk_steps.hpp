// SPDX-License-Identifier: Apache-2.0
// Steps of random sequences of combinations over processes, and what each leaves of some of an array's elements.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coset/binned.hpp"
#include "coset/reducers/reducer.hpp"

namespace coset::team_test {

/// The same for the same arguments (splitmix64).
constexpr std::uint64_t drawn(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = seed + (index + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

/// Which ranks of a team each of its processes has, and which process this is.
struct ranks_by_process {
  std::vector<rank_t> first;  ///< [process], and the number of ranks
  std::size_t own;

  std::size_t processes() const { return first.size() - 1; }
  rank_t thread(rank_t rank) const { return rank - first[own]; }
};

struct walk_step {
  enum class form : std::uint8_t { every_process, one_process, parts, started };
  std::size_t index;  ///< of the reduction
  form what;
  combining how;
  rank_t root;
  std::vector<std::size_t> parts;
  std::uint64_t seed;

  bool adds() const { return how == combining::add && what != form::started; }
  destination to() const {
    if (what == form::one_process) return destination::one_process(root);
    return what == form::parts ? destination::parts(parts) : destination();
  }
  /// Of `count` elements those that process `own` of several gets.
  std::pair<std::size_t, std::size_t> gets(std::size_t count, ranks_by_process const& all) const {
    if (all.processes() == 1 || what == form::every_process || what == form::started) return {0, count};
    if (what == form::one_process) return {0, root == all.own ? count : 0};
    std::size_t begin = 0;
    for (std::size_t p = 0; p < all.own; ++p) begin += parts[p];
    return {begin, begin + parts[all.own]};
  }
  std::string text() const {
    constexpr char const* forms[]{"every process", "one process", "parts", "in split phase"};
    return std::string(forms[static_cast<int>(what)]) + (adds() ? ", added" : ", assigned") + ", reduction " +
           std::to_string(index);
  }
};

/// What a rank reduces in a step: nothing, something into each element, or into some.
class updates_of_rank {
 public:
  updates_of_rank(std::uint64_t seed, rank_t rank, std::size_t count) : draw_(drawn(seed, rank)), count_(count) {}

  bool is_everywhere() const { return count_ > 0 && draw_ % 4 == 1; }
  std::size_t number() const {
    return count_ == 0 || draw_ % 4 == 0 ? 0 : is_everywhere() ? count_ : 1 + (draw_ >> 8) % 300;
  }
  std::size_t key(std::size_t k) const { return is_everywhere() ? k : drawn(draw_, k) % count_; }
  std::uint64_t value(std::size_t k) const { return drawn(draw_ + 1, k); }
  /// Whether the thread's copy has no number.
  bool unnumbered() const { return (draw_ >> 4) % 3 == 0; }

 private:
  std::uint64_t const draw_;
  std::size_t const count_;
};

/// Some ranks come late to a step, by less than a message takes or by the time of several.
inline void come_late(std::uint64_t seed, rank_t rank) {
  std::uint64_t const draw = drawn(seed ^ 0x1a7e, rank);
  if (draw % 8 == 0) std::this_thread::yield();
  if (draw % 16 == 1)
    for (std::uint64_t volatile turns = draw >> 8 & 0xffff; turns > 0;) turns = turns - 1;
}

/// Summed and compared at once; two operations that commute.
struct sum_and_most {
  std::int32_t sum;
  float most;
  bool operator==(sum_and_most const&) const = default;
};
struct sums_and_compares {
  sum_and_most operator()(sum_and_most const& a, sum_and_most const& b) const {
    return {a.sum + b.sum, std::max(a.most, b.most)};
  }
};

/// Whole numbers so small that their sums are exact in any order, or wrap around.
template <class T>
struct walked_element {
  static T made(std::uint64_t draw) { return static_cast<T>(static_cast<int>(draw % 19) - 9); }
  static bool same(T const& a, T const& b) { return a == b; }
};
template <class T>
struct walked_element<std::complex<T>> {
  static std::complex<T> made(std::uint64_t draw) {
    return {walked_element<T>::made(draw), walked_element<T>::made(draw >> 8)};
  }
  static bool same(std::complex<T> const& a, std::complex<T> const& b) { return a == b; }
};
template <>
struct walked_element<sum_and_most> {
  static sum_and_most made(std::uint64_t draw) {
    return {walked_element<std::int32_t>::made(draw), walked_element<float>::made(draw >> 8)};
  }
  static bool same(sum_and_most const& a, sum_and_most const& b) { return a == b; }
};
/// Any numbers: bits do not depend on the order.
template <>
struct walked_element<binned<double>> {
  static binned<double> made(std::uint64_t draw) { return binned(1.0 / static_cast<double>(1 + draw % 1000)); }
  static bool same(binned<double> const& a, binned<double> const& b) { return a.value() == b.value(); }
};

/// What one rank knows of an array: some of its elements.
template <class T, class Op>
class walked_values {
 public:
  walked_values(std::size_t count, Op op, T identity, std::span<T const> target, std::size_t most, std::uint64_t seed)
      : count_(count), op_(op), identity_(identity) {
    for (std::size_t k = 0; k < std::min(most, count); ++k) at_.push_back(count <= most ? k : drawn(seed, k) % count);
    if (count > 0) at_.insert(at_.end(), {0, count - 1});
    std::ranges::sort(at_);
    at_.erase(std::unique(at_.begin(), at_.end()), at_.end());
    for (std::size_t const i : at_) expected_.push_back(target[i]);
  }

  void follow(walk_step const& step, ranks_by_process const& all, std::uint64_t seed) {
    std::vector<T> total(at_.size(), identity_);
    for (rank_t rank = 0; rank < all.first.back(); ++rank) add(total, updates_of_rank(seed, rank, count_));
    auto const [begin, end] = step.gets(count_, all);
    for (std::size_t k = 0; k < at_.size(); ++k)
      if (at_[k] >= begin && at_[k] < end) expected_[k] = step.adds() ? op_(expected_[k], total[k]) : total[k];
  }
  /// Empty, or which element is wrong.
  std::string fault(std::span<T const> found) const {
    for (std::size_t k = 0; k < at_.size(); ++k)
      if (!walked_element<T>::same(found[at_[k]], expected_[k]))
        return "element " + std::to_string(at_[k]) + " of " + std::to_string(count_) + " is wrong";
    return "";
  }

 private:
  void add(std::vector<T>& total, updates_of_rank const& mine) const {
    auto const reduce = [&](std::size_t at, std::uint64_t draw) {
      total[at] = op_(total[at], walked_element<T>::made(draw));
    };
    if (mine.is_everywhere()) {
      for (std::size_t k = 0; k < at_.size(); ++k) reduce(k, mine.value(at_[k]));
      return;
    }
    for (std::size_t k = 0; k < mine.number(); ++k) {
      auto const found = std::ranges::lower_bound(at_, mine.key(k));
      if (found != at_.end() && *found == mine.key(k))
        reduce(static_cast<std::size_t>(found - at_.begin()), mine.value(k));
    }
  }

  std::size_t const count_;
  Op const op_;
  T const identity_;
  std::vector<std::size_t> at_;
  std::vector<T> expected_;
};

}  // namespace coset::team_test
