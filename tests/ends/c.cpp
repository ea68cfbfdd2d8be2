// SPDX-License-Identifier: Apache-2.0
// The tests of the C interface, which call each of its functions.
#include <array>

#include "uses.hpp"

extern "C" {
#include "../capi/check.h"
}

namespace coset::ends {
namespace {

template <void (*Test)()>
bool passes() {
  int const before = failures();
  Test();
  return failures() == before;
}

constexpr std::array all = {use{"C's elements", passes<test_elements>},
                            use{"C's operations", passes<test_operations>},
                            use{"C's split phase", passes<test_split_phase>},
                            use{"C's plans", passes<test_plans>},
                            use{"C's pieces", passes<test_pieces>},
                            use{"C's reducers", passes<test_reducers>},
                            use{"C's teams", passes<test_teams>},
                            use{"C's adopted teams", passes<test_adopted_teams>},
                            use{"C's disagreements", passes<test_disagreements>}};

}  // namespace

std::span<use const> of_c() { return all; }

}  // namespace coset::ends
