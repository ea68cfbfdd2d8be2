// SPDX-License-Identifier: Apache-2.0
// Words about all there can be, not only about schedules that there are.
#include "lab/reproduce/lua.hpp"
#include "lab/search/least_messages.hpp"

namespace coset::cli::reproduction::lua {
namespace {

/// least_messages(ranks): the fewest messages of any allreduce of one element, by looking at all histories; to six ranks.
int least_messages(lua_State* state) {
  push(state, schedule::least_messages(ranks_at(state, 1)));
  return 1;
}

}  // namespace

void add_searches(lua_State* state) { add(state, {{"least_messages", guarded<least_messages>}}); }

}  // namespace coset::cli::reproduction::lua
