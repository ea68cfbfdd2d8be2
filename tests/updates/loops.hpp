// SPDX-License-Identifier: Apache-2.0
// Loops of updates whose results show in which order they were carried out, and what a plain loop makes of them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "coset/coset.hpp"
#include "effort.hpp"

namespace coset {

inline std::ostream& operator<<(std::ostream& out, way by) {
  char const* const names[] = {"chosen", "one_thread", "owner_scan", "partition", "private_copies", "atomics"};
  return out << names[static_cast<std::size_t>(by)];
}

}  // namespace coset

namespace coset::updates_test {

inline constexpr way every_way[] = {way::chosen,    way::one_thread,     way::owner_scan,
                                    way::partition, way::private_copies, way::atomics};
/// Ways that have the plain loop's bits whatever the type and the operation.
inline constexpr bool is_serial(way by) {
  return by == way::one_thread || by == way::owner_scan || by == way::partition;
}

/// No number: what updates make of it depends on their order, and coset knows nothing of it.
struct trail {
  std::uint64_t hash = 0;
  std::uint32_t steps = 0, last = 0;
  friend bool operator==(trail const&, trail const&) = default;
};
struct follow {
  trail operator()(trail const& a, trail const& b) const {
    return {(a.hash ^ b.hash) * 0x9E3779B97F4A7C15u + b.last, a.steps + 1, b.last};
  }
};

/// a + b + a·b commutes, and 0 is its identity, of which coset knows nothing unless it is told.
struct circle {
  template <class T>
  T operator()(T const& a, T const& b) const {
    if constexpr (std::integral<T>) {
      using wide = std::uint64_t;
      return static_cast<T>(wide(a) + wide(b) + wide(a) * wide(b));
    } else {
      return a + b + a * b;
    }
  }
};
/// Does not commute.
struct digits {
  template <class T>
  T operator()(T const& a, T const& b) const {
    if constexpr (std::integral<T>) {
      return static_cast<T>(static_cast<std::uint64_t>(a) * 31 + static_cast<std::uint64_t>(b));
    } else {
      return a * T(0.5f) + b;
    }
  }
};

/// Sums and products of floating-point values differ in their last bits where the order does, and not in more.
template <class T>
T any_value(std::mt19937_64& random) {
  if constexpr (std::integral<T>) {
    return static_cast<T>(random());
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(1 + std::ldexp(static_cast<double>(random() >> 11), -56 - static_cast<int>(random() % 9)));
  } else if constexpr (std::same_as<T, trail>) {
    return {random(), 0, static_cast<std::uint32_t>(random())};
  } else {
    return T(any_value<typename T::value_type>(random), 0);
  }
}
template <class T>
struct value_of_element {
  using type = T;
};
template <>
struct value_of_element<binned<double>> {
  using type = double;
};

template <class T, class Value = typename value_of_element<T>::type>
struct updates {
  std::vector<T> start;
  std::vector<std::uint32_t> keys;
  std::vector<Value> values;

  updates(std::size_t length, std::size_t count, std::uint64_t seed = test::seed()) : start(length), keys(count) {
    std::mt19937_64 random(seed * 1000003 + length * 31 + count);
    values.reserve(count);
    for (T& each : start) each = T(any_value<Value>(random));
    // Some elements get most of them.
    for (auto& each : keys)
      each = static_cast<std::uint32_t>(random() % 4 == 0 ? random() % std::min<std::size_t>(length, 5)
                                                          : random() % length);
    for (std::size_t i = 0; i < count; ++i) values.push_back(any_value<Value>(random));
  }

  template <class Op>
  std::vector<T> by_plain_loop(Op const& op) const {
    std::vector<T> all = start;
    for (std::size_t i = 0; i < keys.size(); ++i)
      all[keys[i]] = static_cast<T>(op(all[keys[i]], static_cast<T>(values[i])));
    return all;
  }
};

template <class T>
bool same_bits(T const& a, T const& b) {
  if constexpr (std::same_as<T, binned<double>>) {
    return same_bits(a.value(), b.value());
  } else {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
  }
}
template <class T>
bool nearly_same(T const& a, T const& b) {
  if constexpr (std::floating_point<T>) {
    return std::abs(a - b) <= std::abs(b) * (sizeof(T) == 4 ? T(1e-3) : T(1e-9));
  } else if constexpr (detail::is_complex_number<T>) {
    return std::abs(a - b) <= std::abs(b) * 1e-3;
  } else {
    return same_bits(a, b);
  }
}

/// The first element that differs; the length if none does.
template <class T>
std::size_t first_difference(std::vector<T> const& got, std::vector<T> const& expected, bool in_bits) {
  std::size_t k = 0;
  while (k < got.size() && (in_bits ? same_bits(got[k], expected[k]) : nearly_same(got[k], expected[k]))) ++k;
  return k;
}

/// What bits a way owes.
template <class T, class Op>
bool owes_bits(way by, bits required) {
  return is_serial(by) || required == bits::serial || detail::is_exact<Op, T> || std::integral<T> ||
         std::same_as<T, binned<double>>;
}

/// call(target, operation, options) in each way, and with serial bits; a way that cannot be obeyed has to be refused.
/// `target_of(array)` is what is updated.
template <class T, class Value, class Op, class TargetOf, class Call>
void expect_plain_loop(updates<T, Value> const& of, Op const& op, TargetOf const& target_of, Call const& call) {
  using target =
      decltype(detail::update_target_of(detail::named_target(target_of(std::declval<std::vector<T>&>()), op)));
  using can = detail::abilities_of<target>;
  auto const expected = of.by_plain_loop(op);
  for (way const by : every_way)
    for (bits const required : {bits::same_on_all_ranks, bits::per_rank, bits::serial}) {
      scatter_options const options{.by = by, .required = required, .most_bytes = 0};
      bool const keeps_bits = required != bits::serial || (by == way::private_copies ? can::exact_copies : can::exact);
      bool const is_possible = by == way::private_copies ? can::copies && keeps_bits
                               : by == way::atomics      ? can::atomics && keeps_bits
                                                         : true;
      std::vector<T> got = of.start;
      std::string const what = ::testing::PrintToString(by) + ", bits " + std::to_string(static_cast<int>(required)) +
                               ", " + std::to_string(of.keys.size()) + " updates of " +
                               std::to_string(of.start.size()) + " elements";
      if (!is_possible && !of.keys.empty()) {
        EXPECT_THROW(call(target_of(got), op, options), argument_error) << what;
        EXPECT_EQ(first_difference(got, of.start, true), got.size()) << what;
        continue;
      }
      call(target_of(got), op, options);
      std::size_t const k = first_difference(got, expected, owes_bits<T, Op>(by, required));
      EXPECT_EQ(k, got.size()) << what;
    }
}

/// The array itself.
struct whole {
  template <class T>
  std::span<T> operator()(std::vector<T>& array) const {
    return array;
  }
};

}  // namespace coset::updates_test
