// SPDX-License-Identifier: Apache-2.0
// A team of which one rank never comes. It prints where coset finds the ranks, and ends as a program does that crashes.
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <vector>

#include "coset/coset.hpp"

namespace {

std::string dumped(coset::team& ranks) {
  std::ostringstream text;
  dump(ranks, text);
  return text.str();
}

[[noreturn]] void crash_once_others_wait(coset::team& ranks) {
  for (;;) {
    std::string const text = dumped(ranks);
    if (text.find("rank 0 has waited") == std::string::npos || text.find("rank 1 has waited") == std::string::npos)
      continue;
    std::cout << text << std::flush;
    std::abort();
  }
}

}  // namespace

int main() {
  coset::team ranks({.ranks = 3, .place = coset::placement::unbound});
  ranks.run([&](coset::member& me) {
    barrier(me);
    coset::member part = me.split(me.rank() == 0 ? 0 : 1);
    if (me.rank() == 2) crash_once_others_wait(ranks);
    std::vector<float> items(1000), all(3000);
    if (me.rank() == 1) barrier(part);
    gather(me, items, all, 0);
  });
}
