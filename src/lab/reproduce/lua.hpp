// SPDX-License-Identifier: Apache-2.0
// Values between C++ and Lua. Its library is the one that was compiled as C++: errors are exceptions, so that destructors run.
#pragma once

#include <exception>
#include <lua.hpp>
#include <optional>
#include <string>
#include <vector>

#include "coset/error.hpp"
#include "coset/verbs/verb.hpp"
#include "lab/reproduce/context.hpp"

namespace coset::cli::reproduction::lua {

/// A function of the vocabulary: what it throws becomes an error of the file's line that called it.
template <int (*Function)(lua_State*)>
int guarded(lua_State* state) {
  try {
    return Function(state);
  } catch (std::exception const& error) {
    luaL_where(state, 1);
    lua_pushstring(state, error.what());
  }
  lua_concat(state, 2);
  return lua_error(state);
}

inline context& context_of(lua_State* state) { return **static_cast<context**>(lua_getextraspace(state)); }

inline std::string text_at(lua_State* state, int index) { return luaL_checkstring(state, index); }
inline std::string text_at(lua_State* state, int index, char const* otherwise) {
  return luaL_optstring(state, index, otherwise);
}
rank_t ranks_at(lua_State*, int index);
rank_t ranks_at(lua_State*, int index, rank_t otherwise);
/// Bytes or seconds: finite, and not below 0.
double amount_at(lua_State*, int index);
/// Of its name; allreduce if there is none.
verb verb_at(lua_State*, int index);
/// A table with any of alpha, beta, gamma, ports, at_once, inside, nodes (a list of sizes) and links (JSON); none: [KZ]'s.
network_costs costs_at(lua_State*, int index);

/// A field of the table at `index`.
std::optional<std::string> text_field(lua_State*, int index, char const* key);
std::optional<double> number_field(lua_State*, int index, char const* key);

inline void push(lua_State* state, double value) { lua_pushnumber(state, value); }
inline void push(lua_State* state, bool value) { lua_pushboolean(state, value); }
inline void push(lua_State* state, std::string const& value) { lua_pushlstring(state, value.data(), value.size()); }
inline void push(lua_State* state, char const* value) { lua_pushstring(state, value); }
template <std::integral Integer>
requires(!std::same_as<Integer, bool>) void push(lua_State* state, Integer value) {
  lua_pushinteger(state, static_cast<lua_Integer>(value));
}
/// A whole number where it is one: exact.
void push(lua_State*, schedule::fraction const&);
template <typename Value>
void push(lua_State* state, std::vector<Value> const& all) {
  lua_createtable(state, static_cast<int>(all.size()), 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    push(state, all[i]);
    lua_rawseti(state, -2, static_cast<lua_Integer>(i + 1));
  }
}

/// The table on the top gets a field.
template <typename Value>
void set(lua_State* state, char const* key, Value const& value) {
  push(state, value);
  lua_setfield(state, -2, key);
}

struct word {
  char const* name;
  lua_CFunction function;
};
/// Words that all files know.
template <std::size_t Count>
void add(lua_State* state, word const (&all)[Count]) {
  for (word const& one : all) lua_register(state, one.name, one.function);
}

// The vocabulary, each in its file.
void add_schedules(lua_State*);
void add_prices(lua_State*);
void add_groups(lua_State*);
void add_runs(lua_State*);
void add_searches(lua_State*);

}  // namespace coset::cli::reproduction::lua
