// SPDX-License-Identifier: Apache-2.0
// One of two versions of the library under measurement, as cycle.cpp: short calls back to back.
#include "calls.hpp"

#include <chrono>
#include <coset/coset.hpp>
#include <vector>

namespace {

using paired::shape;

template <class Call>
double ns_of(coset::member& me, int calls, Call call) {
  for (int k = 0; k < calls / 10; ++k) call();
  coset::barrier(me);
  auto const begin = std::chrono::steady_clock::now();
  for (int k = 0; k < calls; ++k) call();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / calls;
}

template <class T>
double ns_of_sums(coset::member& me, int calls, std::size_t count) {
  std::vector<T> const in(count, T(1));
  std::vector<T> out(count);
  return ns_of(me, calls, [&] { coset::allreduce(me, in, out); });
}

double ns_of(coset::member& me, shape what, int calls) {
  double const one = 1;
  double sum = 0;
  switch (what) {
    case shape::double_sum:
      return ns_of_sums<double>(me, calls, 1);
    case shape::double_value:
      return ns_of(me, calls, [&] { sum += coset::allreduce(me, one); });
    case shape::int_sum:
      return ns_of_sums<int>(me, calls, 2);
    case shape::barrier:
      return ns_of(me, calls, [&] { coset::barrier(me); });
    case shape::double_reduce: {
      std::vector<double> const in(1, one);
      std::vector<double> out(1);
      return ns_of(me, calls, [&] { coset::reduce(me, in, out, 0); });
    }
    case shape::doubles_64_bytes:
      return ns_of_sums<double>(me, calls, 8);
    case shape::doubles_1_kib:
      return ns_of_sums<double>(me, calls, 128);
    case shape::floats_16_kib:
      return ns_of_sums<float>(me, calls, 4096);
  }
  __builtin_unreachable();
}

double burst(void* of, shape what, int calls) {
  double ns = 0;
  static_cast<coset::team*>(of)->run([&](coset::member& me) {
    double const mine = ns_of(me, what, calls);
    double const slower = coset::allreduce(me, mine, coset::maximum{});
    if (me.rank() == 0) ns = slower;
  });
  return ns;
}

}  // namespace

extern "C" paired::version const PAIRED_NAME;
paired::version const PAIRED_NAME{[](unsigned ranks) -> void* { return new coset::team({.ranks = ranks}); }, burst,
                                  [](void* of) { delete static_cast<coset::team*>(of); }};
