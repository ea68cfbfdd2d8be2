// SPDX-License-Identifier: Apache-2.0
// Operations in flight whose pieces have no room in what processes share go part by part: a team would wait for the others
// while it begins one.
#pragma once

#include <cstddef>
#include <vector>

#include "mpi/preload/call.hpp"
#include "mpi/preload/handles/packing.hpp"

namespace coset::interpose {

/// A call of the team. Of pieces that are cut it moves the bytes [begin, begin + longest) of each, between arrays of its own.
struct part {
  team_call call;
  std::size_t begin = 0, longest = 0;  ///< longest: 0 if the call is the whole, or a piece
  room in = {}, out = {};
};

/// The same number on all processes. Of a call whose root has counts to tell, that alone: its parts come after it.
std::vector<part> parts_of(prepared& whole);

/// Before a part begins, and after it has ended.
void fill_input(part&, prepared const& whole);
void put_output(part const&, prepared const& whole);

}  // namespace coset::interpose
