// SPDX-License-Identifier: Apache-2.0
// Arguments taken and results given.
#include "lab/reproduce/lua.hpp"

#include <fmt/format.h>

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

network_costs costs_at(lua_State* state, int index) {
  network_costs made;
  if (lua_isnoneornil(state, index)) return made;
  luaL_checktype(state, index, LUA_TTABLE);
  made.flat.alpha = number_field(state, index, "alpha").value_or(made.flat.alpha);
  made.flat.beta = number_field(state, index, "beta").value_or(made.flat.beta);
  made.flat.gamma = number_field(state, index, "gamma").value_or(made.flat.gamma);
  made.flat.inside = number_field(state, index, "inside").value_or(made.flat.inside);
  made.flat.ports = static_cast<rank_t>(number_field(state, index, "ports").value_or(made.flat.ports));
  made.flat.at_once = static_cast<rank_t>(number_field(state, index, "at_once").value_or(made.flat.at_once));
  made.links = text_field(state, index, "links").value_or("");
  lua_getfield(state, index, "nodes");
  if (lua_istable(state, -1))
    for (lua_Integer i = 1; lua_rawgeti(state, -1, i) != LUA_TNIL; ++i) {
      made.nodes.push_back(ranks_at(state, -1));
      lua_pop(state, 1);
    }
  else
    lua_pushnil(state);
  lua_pop(state, 2);
  return made;
}

void push(lua_State* state, schedule::fraction const& value) {
  if (value.denominator() == 1)
    push(state, value.numerator());
  else
    push(state, value.value());
}

}  // namespace coset::cli::reproduction::lua
