// SPDX-License-Identifier: Apache-2.0
// In a build that has found no oneTBB.
#include "bench/collectives/factories.hpp"

namespace coset::measure {

bool tbb_is_there() { return false; }

contestants make_tbb(verb, std::vector<unsigned> const&) { throw error("this build has found no oneTBB"); }

}  // namespace coset::measure
