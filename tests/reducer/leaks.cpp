// SPDX-License-Identifier: Apache-2.0
// Leaks three times: what the tests allocate, inside or outside of OpenMP regions, or what LLVM's runtime allocates.
#include <omp.h>

#include <string_view>

namespace {

[[gnu::noinline]] void leak_of_ours() {
  [[maybe_unused]] static int* volatile kept;
  kept = new int[400];
  kept = nullptr;
}

[[gnu::noinline]] void leak_of_openmp() {
  kmp_affinity_mask_t mask = nullptr;
  kmp_create_affinity_mask(&mask);
}

}  // namespace

int main(int, char** words) {
  std::string_view const whose = words[1];
  if (whose == "outside")
    for (int k = 0; k < 3; ++k) leak_of_ours();
#pragma omp parallel num_threads(3)
  {
    if (whose == "inside") leak_of_ours();
    if (whose == "openmp") leak_of_openmp();
  }
}
