// SPDX-License-Identifier: Apache-2.0
// The rivals by family.
#include "command/measure/harness/rivals.hpp"

#include <algorithm>
#include <iterator>

#include "bench/collectives/by_hand.hpp"
#include "bench/collectives/factories.hpp"

namespace coset::measure {

std::vector<std::string> const& rival_families() {
  static std::vector<std::string> const families = [] {
    std::vector<std::string> found;
    if (omp_is_there()) found.emplace_back("omp");
    if (tbb_is_there()) found.emplace_back("tbb");
    found.emplace_back("std");
    if (mpi_is_there()) found.emplace_back("mpi");
    return found;
  }();
  return families;
}

contestants make_rivals(verb what, std::vector<unsigned> const& processors, std::vector<std::string> const& families) {
  auto const wanted = [&](std::string_view family) {
    return std::find(families.begin(), families.end(), family) != families.end();
  };
  contestants rivals;
  if (!is_written_by_hand(what)) return rivals;
  auto const add = [&rivals](contestants more) { std::move(more.begin(), more.end(), std::back_inserter(rivals)); };
  if (wanted("omp")) add(make_omp(what, processors));
  if (wanted("tbb")) add(make_tbb(what, processors));
  if (wanted("mpi")) rivals.push_back(make_mpi(processors));
  if (wanted("std")) {
    rivals.push_back(make_std_barrier(processors));
    if (what != verb::reduce_shared) add(make_flags(what, processors));
    if (what == verb::allreduce) rivals.push_back(make_std_push(processors));
  }
  return rivals;
}

}  // namespace coset::measure
