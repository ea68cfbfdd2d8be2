// SPDX-License-Identifier: Apache-2.0
// Arguments taken and results given.
#include "lab/reproduce/lua.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "command/numbers.hpp"

namespace coset::cli::reproduction::lua {

rank_t ranks_at(lua_State* state, int index) {
  auto const number = luaL_checkinteger(state, index);
  if (number < 0 || static_cast<std::uint64_t>(number) > most_ranks)
    throw argument_error(fmt::format("{} is no number of ranks", number));
  return static_cast<rank_t>(number);
}

rank_t ranks_at(lua_State* state, int index, rank_t otherwise) {
  return lua_isnoneornil(state, index) ? otherwise : ranks_at(state, index);
}

double amount_at(lua_State* state, int index) {
  double const amount = luaL_checknumber(state, index);
  if (!(amount >= 0) || std::isinf(amount))
    throw argument_error(fmt::format("{} is neither bytes nor seconds", amount));
  return amount;
}

verb verb_at(lua_State* state, int index) { return verb_named(text_at(state, index, "allreduce")); }

std::optional<std::string> text_field(lua_State* state, int index, char const* key) {
  index = lua_absindex(state, index);
  lua_getfield(state, index, key);
  std::optional<std::string> found;
  if (lua_type(state, -1) == LUA_TSTRING || lua_type(state, -1) == LUA_TNUMBER) found = lua_tostring(state, -1);
  lua_pop(state, 1);
  return found;
}

std::optional<double> number_field(lua_State* state, int index, char const* key) {
  index = lua_absindex(state, index);
  lua_getfield(state, index, key);
  std::optional<double> found;
  if (lua_isnumber(state, -1)) found = lua_tonumber(state, -1);
  lua_pop(state, 1);
  return found;
}

namespace {

std::vector<rank_t> nodes_at(lua_State* state, int index) {
  luaL_checktype(state, index, LUA_TTABLE);
  std::vector<rank_t> nodes;
  for (lua_Integer i = 1; lua_rawgeti(state, index, i) != LUA_TNIL; ++i) {
    nodes.push_back(ranks_at(state, -1));
    lua_pop(state, 1);
  }
  lua_pop(state, 1);
  return nodes;
}

/// One field of a table of costs, whose value lies at `index`. False: there is no such cost.
bool set_cost(network_costs& of, std::string_view key, lua_State* state, int index) {
  for (auto const& [name, cost] : {std::pair{"alpha", &flat_costs::alpha},
                                   {"beta", &flat_costs::beta},
                                   {"gamma", &flat_costs::gamma},
                                   {"inside", &flat_costs::inside}})
    if (key == name) return of.flat.*cost = amount_at(state, index), true;
  if (key == "ports") return of.flat.ports = std::max(ranks_at(state, index), 1u), true;
  if (key == "at_once") return of.flat.at_once = std::max(ranks_at(state, index), 1u), true;
  if (key == "nodes") return of.nodes = nodes_at(state, index), true;
  if (key == "links") return of.links = text_at(state, index), true;
  return false;
}

}  // namespace

network_costs costs_at(lua_State* state, int index) {
  network_costs made;
  if (lua_isnoneornil(state, index)) return made;
  luaL_checktype(state, index, LUA_TTABLE);
  index = lua_absindex(state, index);
  for (lua_pushnil(state); lua_next(state, index) != 0; lua_pop(state, 1)) {
    lua_pushvalue(state, -2);  // to read a number that is a key as text would change the key
    auto const key = text_at(state, -1);
    lua_pop(state, 1);
    if (!set_cost(made, key, state, lua_gettop(state)))
      throw argument_error(fmt::format(
          "costs have no '{}'; there are alpha, beta, gamma, inside, ports, at_once, nodes and links", key));
  }
  return made;
}

void push(lua_State* state, schedule::fraction const& value) {
  if (value.denominator() == 1)
    push(state, value.numerator());
  else
    push(state, value.value());
}

}  // namespace coset::cli::reproduction::lua
