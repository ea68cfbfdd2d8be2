// SPDX-License-Identifier: Apache-2.0
// Who of OpenMP's rivals takes part in which collective. They share their threads.
#include "bench/collectives/factories.hpp"
#include "bench/collectives/omp/openmp_region.hpp"

namespace coset::measure {
namespace {

using factory = std::unique_ptr<contestant> (*)(std::shared_ptr<openmp_region>);

std::vector<factory> factories(verb what) {
  if (what == verb::allreduce)
    return {make_omp_copies,      make_omp_private, make_omp_ips,      make_omp_push,
            make_omp_push_stream, make_omp_shared,  make_omp_reduction};
  if (shares_the_result(what)) return {make_omp_shared, make_omp_reduction};
  return {make_omp_by_hand};
}

}  // namespace

bool omp_is_there() { return true; }

contestants make_omp(verb what, std::vector<unsigned> const& processors) {
  contestants rivals;
  auto const region = std::make_shared<openmp_region>(processors);
  for (factory make : factories(what)) rivals.push_back(make(region));
  return rivals;
}

}  // namespace coset::measure
