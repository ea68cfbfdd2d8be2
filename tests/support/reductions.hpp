// SPDX-License-Identifier: Apache-2.0
// One allreduce, checked in every respect: right, the same bits everywhere, and nothing touched that was not named.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "coset/coset.hpp"

namespace coset::team_test {

/// An array between guards, on a cache line or one element after it.
template <class T>
class guarded_array {
 public:
  guarded_array(std::size_t count, bool misaligned) : storage_(count + 3 * margin, guard), count_(count) {
    std::size_t const past_line = std::bit_cast<std::uintptr_t>(storage_.data() + margin) % line_bytes;
    begin_ = margin + (line_bytes - past_line) % line_bytes / sizeof(T) + (misaligned ? 1 : 0);
  }

  guarded_array(guarded_array&&) = default;  // a copy would lie elsewhere, aligned otherwise

  std::span<T> items() { return std::span(storage_).subspan(begin_, count_); }

  bool guards_stand() const {
    auto const is_guard = [](T value) { return value == guard; };
    auto const begin = storage_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return std::all_of(storage_.begin(), begin, is_guard) &&
           std::all_of(begin + static_cast<std::ptrdiff_t>(count_), storage_.end(), is_guard);
  }

 private:
  static constexpr std::size_t line_bytes = 64;
  static constexpr std::size_t margin = 2 * line_bytes / sizeof(T);
  static constexpr T guard = T(12345);

  std::vector<T> storage_;
  std::size_t begin_ = 0, count_;
};

/// Small whole numbers, of which sums of many ranks are exact in every type and bracketing; for products powers of two.
template <class T, class Op>
T contribution(rank_t rank, std::size_t index, std::size_t seed) {
  static auto const table = [] {
    std::array<T, 251> values{};
    std::uint32_t state = 1;
    for (T& v : values) {
      state = state * 1664525u + 1013904223u;
      auto const small = static_cast<int>(state >> 24 & 15);
      v = std::same_as<Op, multiplies> ? static_cast<T>(small % 2 == 0 ? 1 + small % 4 / 2 : -1)
                                       : static_cast<T>(small - 8);
    }
    return values;
  }();
  return table[(index + 97 * std::size_t{rank} + seed) % table.size()];
}

struct shape {
  std::size_t count;
  bool in_place;
  bool misaligned;
};

inline std::string describe(rank_t ranks, shape const& s, std::string const& what) {
  return what + " of " + std::to_string(s.count) + " on " + std::to_string(ranks) + " ranks" +
         (s.in_place ? ", in place" : "") + (s.misaligned ? ", misaligned" : "");
}

template <class T>
bool same_bytes(std::span<T const> a, std::span<T const> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

/// Runs `reduce(me, in, out)` on every rank, in == out in place, and checks all that is promised of the result.
template <class T, class Op, class Reduce>
void check_reduction(team& ranks, shape const& s, std::size_t seed, Reduce reduce) {
  rank_t const p = ranks.size();
  std::vector<guarded_array<T>> inputs, outputs;
  for (rank_t r = 0; r < p; ++r) {
    inputs.emplace_back(s.count, s.misaligned);
    outputs.emplace_back(s.in_place ? 0 : s.count, s.misaligned);
  }
  std::vector<std::vector<T>> given(p, std::vector<T>(s.count));
  for (rank_t r = 0; r < p; ++r) {
    for (std::size_t i = 0; i < s.count; ++i) given[r][i] = contribution<T, Op>(r, i, seed);
    std::copy(given[r].begin(), given[r].end(), inputs[r].items().begin());
  }
  ranks.run([&](member& me) {
    std::span<T> const in = inputs[me.rank()].items(), out = s.in_place ? in : outputs[me.rank()].items();
    reduce(me, in, out);
  });

  std::vector<T> expected = given[0];
  for (rank_t r = 1; r < p; ++r) {
    for (std::size_t i = 0; i < s.count; ++i) expected[i] = Op{}(expected[i], given[r][i]);
  }
  for (rank_t r = 0; r < p; ++r) {
    auto const got = (s.in_place ? inputs : outputs)[r].items();
    bool const alike = same_bytes<T>(got, expected);  // nearly always, and sooner known than element by element
    for (std::size_t i = 0; !alike && i < s.count; ++i) {
      ASSERT_EQ(got[i], expected[i]) << "rank " << r << ", element " << i;
    }
    ASSERT_TRUE(same_bytes<T>(got, (s.in_place ? inputs : outputs)[0].items()))
        << "rank " << r << " has other bits than rank 0";
    ASSERT_TRUE(inputs[r].guards_stand() && outputs[r].guards_stand()) << "rank " << r;
    ASSERT_TRUE(s.in_place || same_bytes<T>(inputs[r].items(), given[r])) << "rank " << r << ": its input has changed";
  }
}

using all_types = std::tuple<float, double, std::int32_t, std::int64_t>;
using all_operations = std::tuple<plus, multiplies, minimum, maximum>;

inline constexpr std::size_t combinations = std::tuple_size_v<all_types> * std::tuple_size_v<all_operations>;

/// Calls visit.template operator()<T, Op>() for combination number `which` of types and operations.
template <class Visit>
void with_combination(std::size_t which, Visit visit) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    constexpr std::size_t types = std::tuple_size_v<all_types>;
    (void)((which % combinations == I && (visit.template operator()<std::tuple_element_t<I % types, all_types>,
                                                                    std::tuple_element_t<I / types, all_operations>>(),
                                          true)) ||
           ...);
  }
  (std::make_index_sequence<combinations>{});
}

}  // namespace coset::team_test
