// SPDX-License-Identifier: Apache-2.0
// The rivals by family. Contestants of one family share their threads.
#include <algorithm>

#include "bench/allreduce/factories.hpp"
#include "bench/allreduce/openmp_region.hpp"
#include "bench/allreduce/tbb_arena.hpp"

namespace coset::bench {

std::vector<std::string> const& rival_families() {
  static std::vector<std::string> const families{"omp", "tbb", "std"};
  return families;
}

contestants make_rivals(std::vector<unsigned> const& processors, std::vector<std::string> const& families) {
  auto const wanted = [&](std::string_view family) {
    return std::find(families.begin(), families.end(), family) != families.end();
  };
  contestants rivals;
  if (wanted("omp")) {
    auto const region = std::make_shared<openmp_region>(processors);
    for (auto make : {make_omp_copies, make_omp_private, make_omp_shared, make_omp_reduction})
      rivals.push_back(make(region));
  }
  if (wanted("tbb")) {
    auto const arena = std::make_shared<tbb_arena>(processors);
    for (auto make : {make_tbb_ets, make_tbb_reduce}) rivals.push_back(make(arena));
  }
  if (wanted("std")) rivals.push_back(make_std_barrier(processors));
  return rivals;
}

}  // namespace coset::bench
