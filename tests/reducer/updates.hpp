// SPDX-License-Identifier: Apache-2.0
// Random updates of arrays, dealt out to threads, and what must come of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "coset/coset.hpp"
#include "effort.hpp"

namespace coset::reducer_test {

/// body(t) on `threads` new threads at once.
template <class Body>
void on_threads(std::uint32_t threads, Body body) {
  std::vector<std::jthread> all;
  for (std::uint32_t t = 0; t < threads; ++t) all.emplace_back([&body, t] { body(t); });
}

template <class T>
struct update {
  std::size_t index;
  T value;
};

/// Where updates go: everywhere, or close to a few places.
enum class spread { dense, sparse };

/// Small whole numbers, and so few of them per element that every order of folding is exact; for products 1 and −1.
template <class T, class Op>
T any_value(std::mt19937_64& random) {
  int const small = static_cast<int>(random() % 4);
  if constexpr (std::same_as<Op, multiplies>) return detail::number<T>(small % 2 == 0 ? 1 : -1);
  return detail::number<T>(small);
}

template <class T, class Op>
std::vector<update<T>> random_updates(std::size_t elements, std::size_t number, spread where, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<update<T>> all(number);
  std::size_t const places = 3;
  for (auto& one : all) {
    std::size_t const near = elements / places * (random() % places) + random() % 7;
    one.index = where == spread::dense ? random() % elements : std::min(near, elements - 1);
    one.value = any_value<T, Op>(random);
  }
  return all;
}

/// What thread t of `threads` does of them.
template <class Mine, class T, class Op>
void apply(Mine mine, std::vector<update<T>> const& all, std::uint32_t t, std::uint32_t threads, Op op) {
  for (std::size_t i = t; i < all.size(); i += threads) {
    T& element = mine[all[i].index];
    element = op(element, all[i].value);
  }
}
template <class T, class Op>
void apply(sparse_array<T, Op> mine, std::vector<update<T>> const& all, std::uint32_t t, std::uint32_t threads, Op) {
  for (std::size_t i = t; i < all.size(); i += threads) mine[all[i].index].reduce(all[i].value);
}

template <class T, class Op>
void apply(std::vector<T>& to, std::vector<update<T>> const& all, Op op) {
  for (auto const& one : all) to[one.index] = op(to[one.index], one.value);
}

}  // namespace coset::reducer_test
