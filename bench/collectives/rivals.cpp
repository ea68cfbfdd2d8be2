// SPDX-License-Identifier: Apache-2.0
// The rivals by family. Contestants of one family share their threads.
#include <algorithm>

#include "bench/collectives/factories.hpp"
#include "bench/collectives/omp/openmp_region.hpp"
#include "bench/collectives/tbb/tbb_arena.hpp"

namespace coset::measure {

std::vector<std::string> const& rival_families() {
  static std::vector<std::string> const families = [] {
    std::vector<std::string> found{"omp", "tbb", "std"};
    if (mpi_is_there()) found.emplace_back("mpi");
    return found;
  }();
  return families;
}

namespace {

using omp_factory = std::unique_ptr<contestant> (*)(std::shared_ptr<openmp_region>);

bool shares_the_result(verb what) { return what == verb::reduce_shared || what == verb::allreduce_view; }

std::vector<omp_factory> omp_rivals(verb what) {
  if (what == verb::allreduce)
    return {make_omp_copies,      make_omp_private, make_omp_ips,      make_omp_push,
            make_omp_push_stream, make_omp_shared,  make_omp_reduction};
  if (shares_the_result(what)) return {make_omp_shared, make_omp_reduction};
  return {make_omp_by_hand};
}

}  // namespace

contestants make_rivals(verb what, std::vector<unsigned> const& processors, std::vector<std::string> const& families) {
  auto const wanted = [&](std::string_view family) {
    return std::find(families.begin(), families.end(), family) != families.end();
  };
  contestants rivals;
  if (wanted("omp")) {
    auto const region = std::make_shared<openmp_region>(processors);
    for (omp_factory make : omp_rivals(what)) rivals.push_back(make(region));
  }
  if (wanted("tbb") && (what == verb::allreduce || shares_the_result(what))) {
    auto const arena = std::make_shared<tbb_arena>(processors);
    for (auto make : {make_tbb_ets, make_tbb_reduce}) rivals.push_back(make(arena));
    if (what == verb::allreduce)
      for (auto make : {make_tbb_push, make_tbb_push_stream}) rivals.push_back(make(arena));
  }
  if (wanted("mpi")) rivals.push_back(make_mpi(processors));
  if (wanted("std")) {
    rivals.push_back(make_std_barrier(processors));
    if (what != verb::reduce_shared) rivals.push_back(make_flags(processors));
    if (what == verb::allreduce) rivals.push_back(make_std_push(processors));
  }
  return rivals;
}

}  // namespace coset::measure
