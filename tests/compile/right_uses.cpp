// SPDX-License-Identifier: Apache-2.0
// What callers may write; that it compiles is the test.
#include <array>
#include <complex>
#include <span>
#include <vector>

#include "coset/coset.hpp"

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
  coset::allreduce(me, on_my_node, coset::buffer<double>(me, 4));
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
  auto const sum = coset::make_plan<float>(own, items.size());
  own.run([&](coset::member& me) { sum.execute(me, items, items); });
  auto const adopted = coset::team::adopt(3);
  auto me = adopted->join(0);
  coset::barrier(me);
  coset::allreduce(me, items);
}

}  // namespace
