// SPDX-License-Identifier: Apache-2.0
// So many calls of one verb, 8 bytes each, by a team of one. Their instructions are counted from outside: instructions_test.py.
#include <array>
#include <cstdlib>
#include <cstring>
#include <span>

#include "coset/coset.hpp"

namespace {

/// As many times, if it is the verb that is asked for.
struct repetition {
  char const* verb;
  int calls;
  template <class Call>
  void operator()(char const* name, Call const& call) const {
    if (std::strcmp(verb, name) != 0) return;
    for (int i = 0; i < calls; ++i) call();
  }
};

}  // namespace

int main(int, char** arguments) {
  repetition const repeat{arguments[1], std::atoi(arguments[2])};
  coset::team team({.ranks = 1});
  auto const sum = coset::make_plan<float>(team, 2, coset::plus{});
  team.run([&](coset::member& me) {
    std::array<float, 2> a{1, 2}, b{};
    std::span<float const> const in = a;
    std::span<float> const out = b;
    repeat("allreduce", [&] { coset::allreduce(me, in, out); });
    repeat("allreduce, a plan object", [&] { sum.execute(me, in, out); });
    repeat("reduce", [&] { coset::reduce(me, in, out, 0); });
    repeat("broadcast", [&] { coset::broadcast(me, out, 0); });
    repeat("gather", [&] { coset::gather(me, in, out, 0); });
    repeat("scan", [&] { coset::scan(me, in, out); });
    repeat("barrier", [&] { coset::barrier(me); });
  });
}
