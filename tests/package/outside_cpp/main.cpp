// SPDX-License-Identifier: Apache-2.0
// A program of somebody else: every rank gets the sum over all ranks, or the exit status says that it did not.
#include <algorithm>
#include <atomic>
#include <coset/coset.hpp>
#include <vector>

int main() {
  coset::team team;
  std::atomic<bool> right = true;
  team.run([&](coset::member& me) {
    std::vector<double> x(1000, me.rank() + 1.0);
    coset::allreduce(me, x);
    double const sum = me.size() * (me.size() + 1.0) / 2.0;
    if (std::any_of(x.begin(), x.end(), [sum](double value) { return value != sum; })) right = false;
  });
  return right ? 0 : 1;
}
