// SPDX-License-Identifier: Apache-2.0
// Who of oneTBB's rivals takes part in which collective. They share their threads.
#include "bench/collectives/factories.hpp"
#include "bench/collectives/tbb/tbb_arena.hpp"

namespace coset::measure {

bool tbb_is_there() { return true; }

contestants make_tbb(verb what, std::vector<unsigned> const& processors) {
  contestants rivals;
  if (what != verb::allreduce && !shares_the_result(what)) return rivals;
  auto const arena = std::make_shared<tbb_arena>(processors);
  for (auto make : {make_tbb_ets, make_tbb_reduce}) rivals.push_back(make(arena));
  if (what == verb::allreduce)
    for (auto make : {make_tbb_push, make_tbb_push_stream}) rivals.push_back(make(arena));
  return rivals;
}

}  // namespace coset::measure
