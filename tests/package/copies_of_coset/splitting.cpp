// SPDX-License-Identifier: Apache-2.0
// A program whose header parts define tables that the static library has, too.
#include <coset/coset.hpp>
#include <vector>

int main() {
  std::vector<long> sums(2), into(8);
  coset::reducer<long> ones(8);
  coset::team({.ranks = 2}).run([&](coset::member& me) {
    coset::member part = me.split(0, 0);
    sums[me.rank()] = coset::allreduce(part, long{1});
    ones.local()[0] += 1;
    ones.combine_into(into, part);
    coset::barrier(part);
  });
  return sums[0] == 2 && sums[1] == 2 && into[0] == 2 ? 0 : 1;
}
