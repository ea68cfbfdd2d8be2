// SPDX-License-Identifier: Apache-2.0
// Words about groups and their chains.
#include "lab/reproduce/lua.hpp"
#include "planning/schedule/groups/chains.hpp"
#include "planning/schedule/registry/foldings.hpp"

namespace coset::cli::reproduction::lua {
namespace {

/// group_sum(group, order, a, b): a + b in a group, as plans name it: "cyclic", "binary", "4x3", "d10".
int group_sum(lua_State* state) {
  auto const order = ranks_at(state, 2);
  auto const a = ranks_at(state, 3), b = ranks_at(state, 4);
  if (a >= order || b >= order) throw argument_error("no element of the group");
  push(state, schedule::group_of(text_at(state, 1), order).add(a, b));
  return 1;
}

/// skips(ranks [, radix]): [T]'s, as a list.
int skips(lua_State* state) {
  push(state, schedule::skips(ranks_at(state, 1), ranks_at(state, 2, 2)));
  return 1;
}

}  // namespace

void add_groups(lua_State* state) { add(state, {{"group_sum", guarded<group_sum>}, {"skips", guarded<skips>}}); }

}  // namespace coset::cli::reproduction::lua
