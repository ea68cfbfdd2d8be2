// SPDX-License-Identifier: Apache-2.0
// Both versions in turns, in any order: a line for each turn, bytes and ns of the old one and of the new one.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>

extern "C" double measure_old(int count, int calls, int gap);
extern "C" double measure_new(int count, int calls, int gap);

namespace {

struct shape {
  int count, calls;
};

}  // namespace

int main() {
  setenv("COSET_IDLE", "0", 1);  // teams that are made anew have other memory
  constexpr shape shapes[] = {{2, 3000}, {256, 2000}, {16384, 200}};
  std::mt19937 choices(static_cast<unsigned>(getpid()));
  for (int turn = 0; turn < 8; ++turn) {
    for (auto const [count, calls] : shapes) {
      int const gap = static_cast<int>(choices() % 500);
      bool const old_first = choices() % 2 == 0;
      double first = old_first ? measure_old(count, calls, gap) : measure_new(count, calls, gap);
      double second = old_first ? measure_new(count, calls, gap) : measure_old(count, calls, gap);
      std::printf("%d_B %.2f %.2f\n", 4 * count, old_first ? first : second, old_first ? second : first);
    }
  }
}
