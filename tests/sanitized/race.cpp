// SPDX-License-Identifier: Apache-2.0
// Two ranks write what no call orders: the sanitizer has to say so.
#include <coset/coset.hpp>

#include <cstdio>
#include <vector>

int main() {
  coset::team team({.ranks = 2, .place = coset::placement::unbound});
  std::vector<double> common(1000);
  team.run([&](coset::member& me) {
    for (int round = 0; round < 100; ++round) {
      coset::barrier(me);
      for (double& v : common) v += me.rank();
    }
  });
  std::printf("%g\n", common[0]);
}
