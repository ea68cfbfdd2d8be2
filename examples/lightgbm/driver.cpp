// SPDX-License-Identifier: Apache-2.0
// The network between threads of one process, 2 to 5 of them.
#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>

#include "trees.hpp"

namespace {

/// Runs `work` on so many machines and returns how many failed.
template <class Work>
int on(int machines, Work const& work) {
  coset_team* team = nullptr;
  if (coset_team_adopt(static_cast<std::uint32_t>(machines), nullptr, &team) != COSET_SUCCESS) return machines;
  std::vector<std::thread> threads;
  std::vector<int> failed(static_cast<std::size_t>(machines));
  for (int rank = 0; rank < machines; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        over_coset::machine const here(team, rank);
        work(here);
      } catch (std::exception const& e) {
        std::fprintf(stderr, "machine %d of %d: %s\n", rank, machines, e.what());
        failed[static_cast<std::size_t>(rank)] = 1;
      }
    });
  }
  for (auto& t : threads) t.join();
  coset_team_free(team);
  return static_cast<int>(std::count(failed.begin(), failed.end(), 1));
}

}  // namespace

int main() {
  int failed = 0;
  for (int machines = 2; machines <= 5; ++machines)
    failed += on(machines, [](over_coset::machine const& here) { grow_trees(here, 20); });
  failed += on(3, call_wrongly);
  std::puts(failed == 0 ? "every machine got what a serial program would" : "some machines have FAILED");
  return failed == 0 ? 0 : 1;
}
