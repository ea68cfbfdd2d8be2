// SPDX-License-Identifier: Apache-2.0
// One of two versions of the library under measurement: the time of cycles of {rewrite, allreduce}, as a C function.
// Compiled against the headers of its version; paired.py hides all other names, so that two of these fit into a program.
#include <algorithm>
#include <chrono>
#include <coset/coset.hpp>
#include <limits>
#include <span>
#include <vector>

namespace {

constexpr int warmup = 100, bursts = 3;

double ns_of(coset::member& me, std::span<float> in, std::span<float> out, int calls) {
  auto const begin = std::chrono::steady_clock::now();
  for (int k = 0; k < calls; ++k) {
    for (float& x : in) x = static_cast<float>(k & 7);
    coset::allreduce(me, std::span<float const>(in), out);
  }
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / calls;
}

}  // namespace

/// A new team, as the memory of one may be lucky; its fastest burst, ns a call. `gap` moves the arrays in memory.
extern "C" double PAIRED_NAME(int count, int calls, int gap) {
  coset::team ranks({.ranks = 2});
  double fastest = std::numeric_limits<double>::max();
  ranks.run([&](coset::member& me) {
    std::vector<char> const before(static_cast<std::size_t>(100'000 + 64 * gap));
    std::vector<float> in(static_cast<std::size_t>(count), 1.0f), out(in.size());
    for (int k = 0; k < warmup; ++k) coset::allreduce(me, std::span<float const>(in), std::span<float>(out));
    for (int k = 0; k < bursts; ++k) {
      coset::barrier(me);
      double const ns = ns_of(me, in, out, calls);
      if (me.rank() == 0) fastest = std::min(fastest, ns);
    }
  });
  return fastest;
}
