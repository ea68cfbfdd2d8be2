// SPDX-License-Identifier: Apache-2.0
// The README's example: every thread sums its own array, and all of them get the total.
#include <coset/coset.hpp>
#include <cstdio>
#include <vector>

int main() {
  coset::team team;  // one pinned thread per core
  team.run([](coset::member& me) {
    std::vector<float> mine(1000, 1.0f + static_cast<float>(me.rank()));
    std::vector<float> total(mine.size());

    coset::allreduce(me, mine, total);                          // total[i] = sum of every thread's mine[i]
    coset::allreduce(me, mine, coset::maximum{});               // in place, another operation
    double const mean = coset::allreduce(me, 0.5) / me.size();  // one value

    if (me.rank() == 0) std::printf("%u ranks: total %g, maximum %g, mean %g\n", me.size(), total[0], mine[0], mean);
  });
}
