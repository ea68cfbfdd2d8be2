// SPDX-License-Identifier: Apache-2.0
// Files read, and their functions called.
#include "lab/reproduce/script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lab/reproduce/lua.hpp"

namespace coset::cli::reproduction {
namespace {

constexpr std::string_view prelude =
#include "prelude.lua.inc"
    ;

/// What Lua's functions throw, with its place; the error is on the top.
[[noreturn]] void fail(lua_State* state, std::string const& where) {
  char const* const what = lua_tostring(state, -1);
  std::string const text = where + (what != nullptr ? what : "no message");
  lua_settop(state, 0);
  throw argument_error(text);
}

void run(lua_State* state, std::string_view text, std::string const& file) {
  if (luaL_loadbufferx(state, text.data(), text.size(), ("@" + file).c_str(), "t") != LUA_OK ||
      lua_pcall(state, 0, 0, 0) != LUA_OK)
    fail(state, "");
}

/// A claim or a figure under construction: what is missing is said with its name.
struct reader {
  lua_State* state;
  int at;
  std::string file, name;

  std::string text(char const* key) const {
    auto found = lua::text_field(state, at, key);
    if (!found || found->empty()) throw argument_error(fmt::format("{}: {} has no '{}'", file, name, key));
    return *found;
  }
  std::string text_or_nothing(char const* key) const { return lua::text_field(state, at, key).value_or(""); }

  /// Keeps the function; 0 if there is none.
  int function(char const* key) const {
    lua_getfield(state, at, key);
    if (lua_isfunction(state, -1)) return luaL_ref(state, LUA_REGISTRYINDEX);
    lua_pop(state, 1);
    return 0;
  }
};

/// Calls visit() with each element of the list in a field of a table on the top.
template <typename Visit>
void for_each_in(lua_State* state, int at, char const* key, Visit visit) {
  lua_getfield(state, at, key);
  auto const list = lua_gettop(state);
  if (lua_istable(state, list))
    for (lua_Integer i = 1; lua_rawgeti(state, list, i) != LUA_TNIL; ++i) {
      visit(lua_gettop(state));
      lua_settop(state, list);
    }
  lua_settop(state, list - 1);
}

verdict verdict_named(reader const& from, std::string const& name) {
  auto const found = std::ranges::find(verdict_names, name);
  if (found == verdict_names.end())
    throw argument_error(fmt::format("{}: {} finds '{}', which is none of {}", from.file, from.name, name,
                                     fmt::join(verdict_names, ", ")));
  return static_cast<verdict>(found - verdict_names.begin());
}

/// finds = "disagrees", of all means, or {model = "disagrees", simulation = "agrees"}.
void read_finds(reader const& from, claim& made) {
  if (auto const all = lua::text_field(from.state, from.at, "finds")) return made.finds.fill(verdict_named(from, *all));
  lua_getfield(from.state, from.at, "finds");
  if (lua_istable(from.state, -1))
    for (std::size_t how = 0; how < means_names.size(); ++how)
      if (auto const one = lua::text_field(from.state, -1, means_names[how]))
        made.finds[how] = verdict_named(from, *one);
  lua_pop(from.state, 1);
}

/// The questions of a table: one for each of the means that it has a function for.
void read_questions(reader const& from, claim& made) {
  for (std::size_t how = 0; how < means_names.size(); ++how)
    if (int const function = from.function(means_names[how]))
      made.questions.push_back({from.text("asks"), static_cast<means>(how), range(from.text("agrees")),
                                range(from.text("disagrees")), function});
}

claim claim_of(lua_State* state, int at, source const& of, std::string const& file) {
  reader const from{state, at, file, "claim " + lua::text_field(state, at, "id").value_or("without id")};
  claim made{of.name,
             from.text("id"),
             from.text("where"),
             from.text("says"),
             {},
             from.text_or_nothing("not_judged"),
             {},
             from.text_or_nothing("because")};
  read_finds(from, made);
  read_questions(from, made);
  for_each_in(state, at, "parts", [&](int part) { read_questions({state, part, file, from.name}, made); });
  if (made.questions.empty() == made.not_judged.empty())
    throw argument_error(fmt::format("{}: {} has to have either a question or 'not_judged'", file, from.name));
  bool const agrees = std::ranges::all_of(made.finds, [](auto f) { return !f || *f == verdict::agrees; });
  if (!agrees && made.because.empty())
    throw argument_error(fmt::format("{}: {} does not agree and has no 'because'", file, from.name));
  return made;
}

point point_of(reader const& from) {
  auto const number = [&](char const* key, double otherwise) {
    return lua::number_field(from.state, from.at, key).value_or(otherwise);
  };
  return {.setting = from.text_or_nothing("setting"),
          .curve = from.text("curve"),
          .ranks = static_cast<rank_t>(number("ranks", 0)),
          .bytes = static_cast<std::uint64_t>(number("bytes", 0)),
          .value = number("value", 0),
          .contention = number("contention", 1),
          .algorithm = from.text_or_nothing("algorithm"),
          .simulated = lua::number_field(from.state, from.at, "simulated")};
}

/// What a function has returned, from `first` on: a number, a truth, or a list of {label, number}; perhaps words for people.
/// nil, and why: there are no numbers.
void take_values(lua_State* state, int first, answer& made) {
  if (lua_isstring(state, first + 1)) made.words = lua_tostring(state, first + 1);
  if (lua_isboolean(state, first)) {
    made.values.push_back({"", static_cast<double>(lua_toboolean(state, first))});
  } else if (lua_isnumber(state, first)) {
    made.values.push_back({"", lua_tonumber(state, first)});
  } else if (lua_istable(state, first)) {
    for (lua_Integer i = 1; lua_rawgeti(state, first, i) == LUA_TTABLE; ++i) {
      lua_rawgeti(state, -1, 1);
      lua_rawgeti(state, -2, 2);
      made.values.push_back({luaL_tolstring(state, -2, nullptr), lua_tonumber(state, -2)});
      lua_settop(state, first + 1);
    }
  }
  if (made.values.empty()) made.missing = made.words.empty() ? "no numbers" : made.words;
}

}  // namespace

void script::closed::operator()(lua_State* state) const { lua_close(state); }

script::script(context& with) : lua_(luaL_newstate()) {
  lua_State* const state = lua_.get();
  if (state == nullptr) throw std::bad_alloc();
  *static_cast<context**>(lua_getextraspace(state)) = &with;
  // Files compute: they reach no files, no programs and no clock.
  constexpr luaL_Reg libraries[] = {{LUA_GNAME, luaopen_base},
                                    {LUA_TABLIBNAME, luaopen_table},
                                    {LUA_STRLIBNAME, luaopen_string},
                                    {LUA_MATHLIBNAME, luaopen_math}};
  for (auto const& one : libraries) {
    luaL_requiref(state, one.name, one.func, 1);
    lua_pop(state, 1);
  }
  for (char const* const name : {"dofile", "loadfile", "print"}) {
    lua_pushnil(state);
    lua_setglobal(state, name);
  }
  lua::add_schedules(state);
  lua::add_prices(state);
  lua::add_groups(state);
  lua::add_runs(state);
  lua::add_searches(state);
  run(state, prelude, "prelude.lua");
}

script::~script() = default;

void script::read(std::string_view text, std::string const& file) {
  lua_State* const state = lua_.get();
  lua_newtable(state);
  lua_setglobal(state, "declared");
  run(state, text, file);
  add_source(file);
}

void script::add_source(std::string const& file) {
  lua_State* const state = lua_.get();
  lua_getglobal(state, "declared");
  auto const declared = lua_gettop(state);
  reader const whole{state, declared, file, "the source"};
  source made{whole.text("name"), whole.text("paper"), {}, {}};
  for_each_in(state, declared, "claims", [&](int at) {
    made.claims.push_back(claim_of(state, at, made, file));
    auto const& id = made.claims.back().id;
    if (std::ranges::count(made.claims, id, &claim::id) > 1)
      throw argument_error(fmt::format("{}: there are two claims {}", file, id));
  });
  for_each_in(state, declared, "figures", [&](int at) {
    reader const from{state, at, file, "figure " + lua::text_field(state, at, "name").value_or("without name")};
    made.figures.push_back({made.name, from.text("name"), from.text("title"), from.text("unit"),
                            from.text_or_nothing("over") == "ranks", from.function("draw")});
  });
  lua_settop(state, declared - 1);
  sources_.push_back(std::move(made));
}

answer script::answer_to(claim const& of, question const& asked) const {
  lua_State* const state = lua_.get();
  answer made{&asked, {}, {}, {}, verdict::undecided};
  lua_settop(state, 0);
  lua_rawgeti(state, LUA_REGISTRYINDEX, asked.function);
  if (lua_pcall(state, 0, 2, 0) != LUA_OK) fail(state, fmt::format("claim {}: ", of.id));
  take_values(state, 1, made);
  lua_settop(state, 0);
  made.found = verdict_on(asked, made.values);
  return made;
}

judged_claim script::judge(claim const& of) const {
  judged_claim made{&of, {}};
  for (question const& asked : of.questions) made.answers.push_back(answer_to(of, asked));
  return made;
}

std::vector<point> script::draw(figure const& of) const {
  lua_State* const state = lua_.get();
  lua_settop(state, 0);
  lua_rawgeti(state, LUA_REGISTRYINDEX, of.function);
  auto const where = fmt::format("{} {}: ", of.source, of.name);
  if (lua_pcall(state, 0, 1, 0) != LUA_OK) fail(state, where);
  std::vector<point> points;
  for (lua_Integer i = 1; lua_rawgeti(state, 1, i) == LUA_TTABLE; ++i) {
    points.push_back(point_of({state, 2, where, "a point"}));
    lua_settop(state, 1);
  }
  lua_settop(state, 0);
  return points;
}

}  // namespace coset::cli::reproduction
