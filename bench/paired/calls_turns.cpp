// SPDX-License-Identifier: Apache-2.0
// Bursts of both versions in turns, each by a team of its own that sleeps meanwhile: a line for each pair of teams, with the
// shape, the ranks, and what a call took of the old one and of the new one, the median of the bursts.
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "calls.hpp"

extern "C" paired::version const measure_old, measure_new;

namespace {

using paired::shape;

constexpr int bursts = 15, pairs_of_teams = 3;

struct {
  shape what;
  char const* name;
  int calls;
} constexpr shapes[] = {{shape::double_sum, "allreduce_8_B_double", 4000},
                        {shape::double_value, "allreduce_of_a_double", 4000},
                        {shape::int_sum, "allreduce_8_B_int", 4000},
                        {shape::barrier, "barrier", 4000},
                        {shape::double_reduce, "reduce_8_B_double", 4000},
                        {shape::doubles_64_bytes, "allreduce_64_B_double", 4000},
                        {shape::doubles_1_kib, "allreduce_1_KiB_double", 2000},
                        {shape::floats_16_kib, "allreduce_16_KiB_float", 400}};

double median(std::vector<double> all) {
  std::ranges::nth_element(all, all.begin() + bursts / 2);
  return all[bursts / 2];
}

}  // namespace

int main() {
  setenv("COSET_IDLE", "0", 1);  // teams that are made anew have other memory
  std::minstd_rand choices(static_cast<unsigned>(getpid()));
  for (int pair = 0; pair < pairs_of_teams; ++pair) {
    for (unsigned const ranks : {1u, 2u}) {
      // Who is made first gets other memory, and who runs first finds other caches.
      bool const old_first = choices() % 2 == 0;
      paired::version const* const versions[]{old_first ? &measure_old : &measure_new,
                                              old_first ? &measure_new : &measure_old};
      void* const teams[]{versions[0]->make(ranks), versions[1]->make(ranks)};
      for (auto const& each : shapes) {
        std::vector<double> took[2];
        for (int k = 0; k < 2 * bursts; ++k) {
          int const whose = (k + k / 2) % 2;  // A B B A A B …
          took[whose].push_back(versions[whose]->burst(teams[whose], each.what, each.calls));
        }
        std::printf("%s %u %.3f %.3f\n", each.name, ranks, median(took[old_first ? 0 : 1]),
                    median(took[old_first ? 1 : 0]));
      }
      for (int k : {0, 1}) versions[k]->end(teams[k]);
    }
  }
}
