// SPDX-License-Identifier: Apache-2.0
// Words about time: the model's, and the simulator's.
#include "lab/reproduce/lua.hpp"

namespace coset::cli::reproduction::lua {
namespace {

/// price(algorithm, ranks, bytes [, costs [, verb]]): microseconds, and where they go: total, latency, peers, transfer,
/// combine; contention, the transfers by what they would take if no message met another.
int price(lua_State* state) {
  auto const ranks = ranks_at(state, 2);
  auto const bytes = amount_at(state, 3);
  auto const& work = context_of(state).priced(text_at(state, 1), ranks, verb_at(state, 5), costs_at(state, 4));
  auto const found = work.price(bytes);
  lua_newtable(state);
  set(state, "total", found.total() * 1e6);
  set(state, "latency", found.latency * 1e6);
  set(state, "peers", found.peers * 1e6);
  set(state, "transfer", found.transfer * 1e6);
  set(state, "combine", found.combine * 1e6);
  set(state, "contention", work.contention(bytes));
  return 1;
}

/// time(algorithm, ranks, bytes [, costs [, verb]]): the total of price().
int time(lua_State* state) {
  auto const ranks = ranks_at(state, 2);
  auto const bytes = amount_at(state, 3);
  auto const& work = context_of(state).priced(text_at(state, 1), ranks, verb_at(state, 5), costs_at(state, 4));
  push(state, work.price(bytes).total() * 1e6);
  return 1;
}

/// busiest(algorithm, ranks, costs [, verb]): of the link of nodes or of a network that is busy longest, its name, the vectors
/// that cross it in one direction in all steps, and the most messages that cross it in one step.
int busiest(lua_State* state) {
  auto const ranks = ranks_at(state, 2);
  auto const& work = context_of(state).priced(text_at(state, 1), ranks, verb_at(state, 4), costs_at(state, 3));
  auto const& found = work.work.busiest();
  lua_newtable(state);
  set(state, "name", found.name);
  set(state, "vectors", found.volume);
  set(state, "messages", found.most_messages);
  return 1;
}

/// costs([table]): alpha, beta and gamma of a table, or of the caller's options where these say otherwise.
int costs(lua_State* state) {
  auto const found = context_of(state).replaced(costs_at(state, 1).flat);
  lua_newtable(state);
  set(state, "alpha", found.alpha);
  set(state, "beta", found.beta);
  set(state, "gamma", found.gamma);
  return 1;
}

/// estimated_r(ranks, bytes [, costs]): the steps to save by [KZ] (37).
int estimated_r(lua_State* state) {
  auto const flat = context_of(state).replaced(costs_at(state, 3).flat);
  auto const model = schedule::cost_model::flat(flat.alpha, flat.beta, flat.gamma);
  push(state, schedule::saved_steps(model, ranks_at(state, 1), amount_at(state, 2)));
  return 1;
}

/// simulated(experiment, mapping, ranks, algorithm, bytes): microseconds, or nil.
int simulated(lua_State* state) {
  auto const found =
      context_of(state).times().seconds(text_at(state, 1), text_at(state, 2), ranks_at(state, 3), text_at(state, 4),
                                        static_cast<std::uint64_t>(luaL_checkinteger(state, 5)));
  if (found)
    push(state, *found * 1e6);
  else
    lua_pushnil(state);
  return 1;
}

/// simulated_sizes(experiment, mapping, ranks), simulated_algorithms(…): what there is, as lists.
int simulated_sizes(lua_State* state) {
  push(state, context_of(state).times().sizes(text_at(state, 1), text_at(state, 2), ranks_at(state, 3)));
  return 1;
}
int simulated_algorithms(lua_State* state) {
  push(state, context_of(state).times().algorithms(text_at(state, 1), text_at(state, 2), ranks_at(state, 3)));
  return 1;
}

}  // namespace

void add_prices(lua_State* state) {
  add(state, {{"price", guarded<price>},
              {"time", guarded<time>},
              {"busiest", guarded<busiest>},
              {"costs", guarded<costs>},
              {"estimated_r", guarded<estimated_r>},
              {"simulated", guarded<simulated>},
              {"simulated_sizes", guarded<simulated_sizes>},
              {"simulated_algorithms", guarded<simulated_algorithms>}});
}

}  // namespace coset::cli::reproduction::lua
