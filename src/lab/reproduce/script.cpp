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

/// Calls a function of C++ that asks Lua, whose errors then come back as argument_error with `where` before them.
template <typename Ask>
void ask(lua_State* state, std::string const& where, Ask const& function) {
  struct call {
    Ask const* function;
    std::exception_ptr thrown;
  } asked{&function, nullptr};
  auto const within = [](lua_State* of) {
    auto& to_ask = *static_cast<call*>(lua_touserdata(of, 1));
    try {
      (*to_ask.function)();
    } catch (std::exception const&) {
      to_ask.thrown = std::current_exception();
    }
    return 0;
  };
  lua_settop(state, 0);
  lua_pushcfunction(state, within);
  lua_pushlightuserdata(state, &asked);
  if (lua_pcall(state, 1, 0, 0) != LUA_OK) fail(state, where);
  if (asked.thrown) std::rethrow_exception(asked.thrown);
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

range range_of(reader const& from, char const* key) {
  try {
    return range(from.text(key));
  } catch (argument_error const& error) {
    throw argument_error(fmt::format("{}: {}: {}", from.file, from.name, error.what()));
  }
}

/// The questions of a table: one for each of the means that it has a function for.
void read_questions(reader const& from, claim& made) {
  for (std::size_t how = 0; how < means_names.size(); ++how)
    if (int const function = from.function(means_names[how]))
      made.questions.push_back({from.text("asks"), static_cast<means>(how), range_of(from, "agrees"),
                                range_of(from, "disagrees"), function});
}

constexpr std::string_view question_keys = " asks agrees disagrees counts model simulation run ";
constexpr std::string_view claim_keys =
    " asks agrees disagrees counts model simulation run id where says parts finds because not_judged unknown ";

/// A key that nobody reads would be silent: "becuase".
void require_known_keys(reader const& from, std::string_view known) {
  for (lua_pushnil(from.state); lua_next(from.state, from.at) != 0; lua_pop(from.state, 1)) {
    lua_pushvalue(from.state, -2);
    auto const key = lua::text_at(from.state, -1);
    lua_pop(from.state, 1);
    if (known.find(" " + key + " ") == std::string_view::npos)
      throw argument_error(
          fmt::format("{}: {} has '{}'; known are{}", from.file, from.name, key, known.substr(0, known.size() - 1)));
  }
}

claim claim_of(lua_State* state, int at, source const& of, std::string const& file) {
  if (!lua_istable(state, at)) throw argument_error(fmt::format("{}: a claim is a table", file));
  reader const from{state, at, file, "claim " + lua::text_field(state, at, "id").value_or("without id")};
  claim made{of.name,
             from.text("id"),
             from.text("where"),
             from.text("says"),
             {},
             from.text_or_nothing("not_judged"),
             {},
             from.text_or_nothing("because"),
             {}};
  require_known_keys(from, claim_keys);
  read_finds(from, made);
  read_questions(from, made);
  for_each_in(state, at, "parts", [&](int part) {
    reader const of_part{state, part, file, from.name};
    require_known_keys(of_part, question_keys);
    read_questions(of_part, made);
  });
  if (made.questions.empty() == made.not_judged.empty())
    throw argument_error(fmt::format("{}: {} has to have either a question or 'not_judged'", file, from.name));
  for_each_in(state, at, "unknown", [&](int setting) { made.unknown.push_back(lua::text_at(state, setting)); });
  bool const agrees = std::ranges::all_of(made.finds, [](auto f) { return !f || *f == verdict::agrees; });
  if (!agrees && made.because.empty())
    throw argument_error(fmt::format("{}: {} does not agree and has no 'because'", file, from.name));
  return made;
}

figure figure_of(lua_State* state, int at, source const& of, std::string const& file) {
  if (!lua_istable(state, at)) throw argument_error(fmt::format("{}: a figure is a table", file));
  reader const from{state, at, file, "figure " + lua::text_field(state, at, "name").value_or("without name")};
  figure made{of.name,
              from.text("name"),
              from.text("title"),
              from.text("unit"),
              from.text_or_nothing("over") == "ranks",
              from.function("draw")};
  if (made.function == 0) throw argument_error(fmt::format("{}: {} has no 'draw'", file, from.name));
  return made;
}

point point_of(reader const& from) {
  auto const number = [&](char const* key, double otherwise) {
    return lua::number_field(from.state, from.at, key).value_or(otherwise);
  };
  for (char const* const key : {"ranks", "bytes"})
    if (double const n = number(key, 0); !(n >= 0 && n <= 1e18))
      throw argument_error(fmt::format("{}: a point has {} {}", from.file, n, key));
  return {.setting = from.text_or_nothing("setting"),
          .curve = from.text("curve"),
          .ranks = static_cast<rank_t>(number("ranks", 0)),
          .bytes = static_cast<std::uint64_t>(number("bytes", 0)),
          .value = number("value", 0),
          .contention = number("contention", 1),
          .algorithm = from.text_or_nothing("algorithm"),
          .simulated = lua::number_field(from.state, from.at, "simulated")};
}

/// A case of a list, {label, number}, at the top.
value case_at(lua_State* state) {
  auto const pair = lua_gettop(state);
  lua_rawgeti(state, pair, 1);
  lua_rawgeti(state, pair, 2);
  if (!lua_isnumber(state, -1)) throw argument_error("a case has no number: {\"16 ranks\", 3.5}");
  value made{luaL_tolstring(state, pair + 1, nullptr), lua_tonumber(state, pair + 2)};
  lua_settop(state, pair - 1);
  return made;
}

/// What a function has returned, from `first` on: a number, a truth, or a list of {label, number}; perhaps words for people.
/// nil, and why: there are no numbers.
void take_values(lua_State* state, int first, answer& made) {
  if (lua_isstring(state, first + 1)) made.words = lua_tostring(state, first + 1);
  auto const type = lua_type(state, first);
  if (type == LUA_TBOOLEAN) {
    made.values.push_back({"", static_cast<double>(lua_toboolean(state, first))});
  } else if (type == LUA_TNUMBER) {
    made.values.push_back({"", lua_tonumber(state, first)});
  } else if (type == LUA_TTABLE) {
    for (lua_Unsigned i = 1; i <= lua_rawlen(state, first); ++i) {
      if (lua_rawgeti(state, first, static_cast<lua_Integer>(i)) != LUA_TTABLE)
        throw argument_error("a case is no pair: {\"16 ranks\", 3.5}");
      made.values.push_back(case_at(state));
    }
    if (made.values.empty()) throw argument_error("a list of cases is empty");
  } else if (type != LUA_TNIL) {
    throw argument_error("a function is to return a number, a truth, a list of cases, or nil and why there is none");
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
  ask(state, file + ": ", [&] {
    lua_getglobal(state, "declared");
    auto const declared = lua_gettop(state);
    if (!lua_istable(state, declared)) throw argument_error(file + ": 'declared' is not the file's to change");
    reader const whole{state, declared, file, "the source"};
    source made{whole.text("name"), whole.text("paper"), {}, {}};
    if (std::ranges::count(sources_, made.name, &source::name) > 0)
      throw argument_error(fmt::format("{}: there is a source {} already", file, made.name));
    for_each_in(state, declared, "claims", [&](int at) { add_claim(claim_of(state, at, made, file), made, file); });
    for_each_in(state, declared, "figures", [&](int at) { made.figures.push_back(figure_of(state, at, made, file)); });
    sources_.push_back(std::move(made));
  });
}

void script::add_claim(claim one, source& to, std::string const& file) const {
  auto const has_it = [&](source const& of) { return std::ranges::count(of.claims, one.id, &claim::id) > 0; };
  if (has_it(to) || std::ranges::any_of(sources_, has_it))
    throw argument_error(fmt::format("{}: there are two claims {}", file, one.id));
  to.claims.push_back(std::move(one));
}

answer script::answer_to(claim const& of, question const& asked) const {
  lua_State* const state = lua_.get();
  answer made{&asked, {}, {}, {}, verdict::undecided};
  auto const where = fmt::format("claim {}: ", of.id);
  ask(state, where, [&] {
    lua_settop(state, 0);
    lua_rawgeti(state, LUA_REGISTRYINDEX, asked.function);
    lua_call(state, 0, 2);
    try {
      take_values(state, 1, made);
    } catch (argument_error const& error) {
      throw argument_error(fmt::format("{}{}: {}", where, asked.what, error.what()));
    }
  });
  made.found = verdict_on(of, asked, made.values);
  return made;
}

judged_claim script::judge(claim const& of) const {
  judged_claim made{&of, {}};
  for (question const& asked : of.questions) made.answers.push_back(answer_to(of, asked));
  return made;
}

std::vector<point> script::draw(figure const& of) const {
  lua_State* const state = lua_.get();
  auto const where = fmt::format("{} {}: ", of.source, of.name);
  std::vector<point> points;
  ask(state, where, [&] {
    lua_settop(state, 0);
    lua_rawgeti(state, LUA_REGISTRYINDEX, of.function);
    lua_call(state, 0, 1);
    if (!lua_istable(state, 1)) throw argument_error(where + "draw is to return a list of points");
    for (lua_Unsigned i = 1; i <= lua_rawlen(state, 1); ++i) {
      if (lua_rawgeti(state, 1, static_cast<lua_Integer>(i)) != LUA_TTABLE)
        throw argument_error(where + "a point is no table");
      points.push_back(point_of({state, 2, where, "a point"}));
      lua_settop(state, 1);
    }
  });
  return points;
}

}  // namespace coset::cli::reproduction
