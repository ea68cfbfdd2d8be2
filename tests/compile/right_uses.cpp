// SPDX-License-Identifier: Apache-2.0
// What callers may write; that it compiles is the test.
#include <array>
#include <complex>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "coset/coset.hpp"
#include "coset/omp.hpp"
#include "coset/tbb.hpp"

namespace {

struct pair_of_numbers {
  float a, b;
};

struct without_default {
  explicit without_default(int n) : number(n) {}
  int number;
};

pair_of_numbers larger(pair_of_numbers const& x, pair_of_numbers const& y) { return x.a < y.a ? y : x; }

[[maybe_unused]] void every_kind_of_array(coset::member& me) {
  std::vector<double> vector(4);
  std::vector<double> const constant(4);
  std::array<double, 4> array{};
  std::array<double, 4> const constant_array{};
  double c_array[4] = {};
  std::span<double> const span(vector);
  std::span<double, 4> const fixed(array);
  std::span<double const> const span_of_const(constant);
  coset::allreduce(me, vector);
  coset::allreduce(me, array);
  coset::allreduce(me, c_array);
  coset::allreduce(me, span);
  coset::allreduce(me, fixed);
  coset::allreduce(me, std::span(vector).first(2));
  coset::allreduce(me, constant, vector);
  coset::allreduce(me, span_of_const, array);
  coset::allreduce(me, constant_array, c_array);
  coset::allreduce(me, fixed, span, coset::maximum{});
  coset::allreduce(me, std::vector<double>{1, 2, 3, 4}, span);
  coset::buffer<double> on_my_node(me, 4);
  coset::allreduce(me, on_my_node);
  coset::buffer<double> another(me, 4);
  coset::allreduce(me, on_my_node, another);
}

[[maybe_unused]] void every_kind_of_element_and_operation(coset::member& me, std::vector<std::complex<float>>& numbers,
                                                          std::vector<pair_of_numbers>& pairs,
                                                          std::vector<unsigned char>& bytes,
                                                          std::vector<without_default>& others) {
  int modulus = 5;
  coset::allreduce(me, numbers, coset::multiplies{});
  coset::allreduce(me, pairs, &larger);
  coset::allreduce(me, bytes, [](unsigned char a, unsigned char b) { return a | b; });
  coset::allreduce(me, bytes, [modulus](int a, int b) { return static_cast<unsigned char>((a + b) % modulus); });
  coset::allreduce(me, others,
                   [](without_default const& a, without_default const& b) { return a.number < b.number ? b : a; });
}

[[maybe_unused]] void every_kind_of_value(coset::member& me) {
  [[maybe_unused]] double const sum = coset::allreduce(me, 1.0);
  [[maybe_unused]] bool const any = coset::allreduce(me, true, [](bool a, bool b) { return a || b; });
  [[maybe_unused]] pair_of_numbers const best = coset::allreduce(me, pair_of_numbers{1, 2}, &larger);
  int const constant = 3;
  [[maybe_unused]] int const most = coset::allreduce(me, constant, coset::maximum{});
}

[[maybe_unused]] void every_kind_of_team(std::vector<float>& items) {
  coset::team own;
  own.run([&](coset::member& me) { coset::barrier(me); });
  auto const body = [](auto& me) { (void)me.rank(); };
  own.run(body);
  own.run(coset::barrier);
  own.run(&coset::member::rank);
  auto const sum = coset::make_plan<float>(own, items.size());
  own.run([&](coset::member& me) { sum.execute(me, items, items); });
  auto const adopted = coset::team::adopt(3);
  auto me = adopted->join(0);
  coset::barrier(me);
  coset::allreduce(me, items);
}

/// Reductions as members, whose types are written out.
struct simulation {
  explicit simulation(std::size_t cells) : forces(cells), kinds(16), all(forces, kinds, fastest) {}

  std::vector<double> forces;
  std::vector<int> kinds;
  double fastest = 0;
  std::vector<pair_of_numbers> pairs{3};
  coset::omp::reduction<double> sum{forces};
  coset::omp::reduction<double> thrifty{coset::omp::in_place, std::span(forces)};
  coset::omp::reduction<double, coset::array_of<int, coset::bit_or>, coset::value_of<double, coset::maximum>> all;
  coset::omp::sparse_reduction<double> scattered{forces};
  coset::tbb::reduction<double, coset::value_of<double>> tasks{forces, fastest};
  coset::joint_reducer<coset::array_of<double, coset::minimum>> least{forces};
  coset::joint_reducer<
      coset::array_of<pair_of_numbers, pair_of_numbers (*)(pair_of_numbers const&, pair_of_numbers const&)>>
      best{coset::into(pairs, &larger, pair_of_numbers{})};
};

/// As coset::mpi::team, which needs MPI.
struct some_processes {
  coset::member_guard join(coset::rank_t) { std::abort(); }
  coset::detail::rank_state* joined(coset::rank_t) { return nullptr; }
  bool is_adopted() const { return true; }
  int processes() const { return 2; }
  coset::rank_t threads() const { return 1; }
  void run(auto const&) {}
};

/// Vectors, spans and arrays alike, and what else they are made with.
[[maybe_unused]] void every_reduction_over_processes(some_processes& all, std::vector<double>& grid,
                                                     std::vector<pair_of_numbers>& pairs,
                                                     coset::sparse_options const& thrifty) {
  float fixed[3] = {};
  double value = 0;
  auto const sum_of = [](float a, float b) { return a + b; };
  using sum_of_doubles = coset::omp::sparse_reduction<double>;
  coset::omp::sparse_reduction alone(grid);
  coset::omp::sparse_reduction alone_with(grid, thrifty), alone_in_span{std::span(grid), thrifty};
  coset::omp::sparse_reduction alone_most(fixed, coset::maximum(), thrifty);
  coset::omp::sparse_reduction alone_best(pairs, &larger, pair_of_numbers{}, thrifty);
  static_assert(std::same_as<decltype(alone), sum_of_doubles> && std::same_as<decltype(alone_with), sum_of_doubles>);
  coset::omp::sparse_reduction scattered(all, grid), of_span(all, std::span(grid)), with(all, grid, thrifty);
  coset::omp::sparse_reduction most(all, fixed, coset::maximum());
  coset::omp::sparse_reduction most_with(all, grid, coset::maximum(), thrifty);
  coset::omp::sparse_reduction best(all, pairs, &larger, pair_of_numbers{}, thrifty);
  coset::omp::sparse_reduction summed(all, std::span(fixed), sum_of, 0.0f);
  static_assert(std::same_as<decltype(scattered), sum_of_doubles> && std::same_as<decltype(with), sum_of_doubles>);
  static_assert(std::same_as<decltype(most), coset::omp::sparse_reduction<float, coset::maximum>>);
  coset::omp::reduction dense(all, grid), in_place(coset::omp::in_place, all, grid);
  coset::omp::reduction several(all, grid, fixed, coset::into(value, coset::maximum()));
  static_assert(std::same_as<decltype(in_place), coset::omp::reduction<double>>);

  coset::tbb::reducer tasks_alone(grid), tasks(all, grid), tasks_of_span(all, std::span(grid));
  coset::tbb::reducer tasks_most(all, fixed, coset::maximum(), 0.0f);
  coset::tbb::sparse_reducer touched_alone(grid, thrifty), touched(all, grid), touched_with(all, grid, thrifty);
  coset::tbb::sparse_reducer touched_best(all, pairs, &larger, pair_of_numbers{}, thrifty);
  static_assert(std::same_as<decltype(tasks_most), coset::tbb::reducer<float, coset::maximum>>);
  static_assert(std::same_as<decltype(touched_with), coset::tbb::sparse_reducer<double>>);
  coset::tbb::reduction tasks_several(all, grid, fixed, coset::into(value, coset::maximum()));
}

/// What follows from arguments is what one would have written.
[[maybe_unused]] void every_kind_of_reduction(coset::team& ranks, simulation& of,
                                              std::vector<without_default>& others) {
  std::array<int, 3> array{};
  double value = 0;
  coset::omp::reduction sums(of.forces, value, coset::into(array, coset::bit_and{}));
  using three = coset::omp::reduction<double, coset::value_of<double>, coset::array_of<int, coset::bit_and>>;
  static_assert(std::same_as<decltype(sums), three>);
  three moved(std::move(sums));
  moved = coset::omp::reduction(std::span(of.forces), value, coset::into(array, coset::bit_and{}));
  coset::omp::reduction in_place(coset::omp::in_place, of.forces);
  static_assert(std::same_as<decltype(in_place), coset::omp::reduction<double>>);
  coset::tbb::reduction tasks(coset::into(value, coset::maximum{}));
  static_assert(std::same_as<decltype(tasks), coset::tbb::reduction<coset::value_of<double, coset::maximum>>>);
  auto const larger_of = [](without_default a, without_default b) { return a.number < b.number ? b : a; };
  coset::joint_reducer given(coset::into(others, larger_of, without_default(0)));
  coset::joint_plan plan(ranks, coset::together(of.forces, value));
  static_assert(std::same_as<decltype(plan), coset::joint_plan<double, coset::value_of<double>>>);
  static_assert(!std::copy_constructible<coset::omp::reduction<double>>);
#pragma omp parallel
  {
    of.sum.local()[0] += 1;
    of.sum.combine();
    of.scattered.local()[0] += 1;
    of.scattered.combine(coset::omp::nowait);
  }
  auto [forces, kinds, fastest] = of.all.local();
  forces[0] += kinds[0] + fastest;
  of.all.combine_into(of.forces, of.kinds, value);
  given.combine(ranks);
}

/// Templates are warned about only where they are used: these are arguments of any verb that src/bindings/c/verbs.cpp, which has
/// all verbs, does without.
[[maybe_unused]] void every_kind_of_call(coset::member& me, std::vector<float>& items, std::vector<float>& all,
                                         std::vector<std::size_t> const& counts) {
  coset::reduce(me, items, 0, coset::minimum{});
  coset::reduce_scatter(me, all, items, counts, coset::reproducible_plus{});
  coset::scan(me, items);
  [[maybe_unused]] float const root = coset::broadcast(me, 1.0f, 0);
  [[maybe_unused]] auto const view = coset::allreduce_view(me, items);
  std::vector<coset::bfloat16> halves(3);
  coset::allreduce(me, coset::together(items, halves, coset::into(all, coset::maximum{})));
  coset::located<double> lowest{1, 2};
  (void)coset::allreduce(me, lowest, coset::minimum_location{});
  coset::allreduce(me, halves, coset::noncommutative([](coset::bfloat16 a, coset::bfloat16) { return a; }));
  coset::start_allreduce(me, items).wait();
}

[[maybe_unused]] void every_loop_of_updates(coset::member& me, coset::team& ranks, std::vector<float>& array,
                                            std::vector<double>& second, std::vector<std::int16_t> const& keys,
                                            std::vector<float> const& values) {
  auto const key = [&keys](std::size_t i) { return keys[i]; };
  auto const value = [](std::size_t) { return std::tuple(1, 2.0); };
  coset::scatter_add(me, array, keys);
  coset::scatter_add(me, std::tie(array, second), 10, key, value);
  coset::scatter_add(ranks, array, keys, values, coset::maximum{}, {.by = coset::way::partition});
  coset::scatter_add(ranks, array[0], 10, key);
  coset::omp::scatter_add(std::span(array), key, values, coset::plus{}, {.required = coset::bits::serial});
  coset::omp::scatter_add(std::tuple(coset::into(array), coset::into(second, coset::minimum{})), keys, coset::one_each);
  coset::tbb::scatter_add(coset::into(
                              array, [](float a, float b) { return a + b; }, 0),
                          keys, values);
}

}  // namespace
