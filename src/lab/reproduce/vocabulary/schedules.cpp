// SPDX-License-Identifier: Apache-2.0
// Words about schedules alone: what they count, and all that ranks do in them.
#include <fmt/format.h>

#include "lab/reproduce/lua.hpp"
#include "planning/schedule/core/events.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/model/demand.hpp"

namespace coset::cli::reproduction::lua {
namespace {

/// The schedule that arguments 1 to 4 name: algorithm, ranks, verb, root.
schedule::schedule const& made_of(lua_State* state) {
  return context_of(state).made(text_at(state, 1), ranks_at(state, 2), verb_at(state, 3), ranks_at(state, 4, 0),
                                text_at(state, 5, ""));
}

/// In all steps, over all ranks, in vectors.
schedule::fraction total_volume(schedule::schedule const& of) {
  schedule::units const in(of);
  std::int64_t sum = 0;
  for (std::size_t step = 0; step < of.steps.size(); ++step)
    for (auto const& one : schedule::messages_in(of, step, in).messages) sum += one.volume;
  return {sum, in.denominator};
}

/// counts(algorithm, ranks [, verb [, root [, tree]]]): proved, then steps; blocks that the busiest rank sends, receives and
/// combines, of the vector's P-th part each; the total that all send, in vectors; fan_in, ordered, same_bits.
int counts(lua_State* state) {
  auto const& of = made_of(state);
  auto const found = schedule::validate(of);
  schedule::fraction const blocks(of.ranks);
  lua_newtable(state);
  set(state, "steps", found.steps);
  set(state, "sent", found.sent_max * blocks);
  set(state, "received", found.received_max * blocks);
  set(state, "combined", found.combined_max * blocks);
  set(state, "total", total_volume(of));
  set(state, "fan_in", found.fan_in);
  set(state, "ordered", found.ordered);
  set(state, "same_bits", found.rank_uniform);
  return 1;
}

void push_assignment(lua_State* state, schedule::schedule const& of, schedule::assignment const& a) {
  lua_newtable(state);
  set(state, "rank", a.rank);
  set(state, "block", a.block);
  set(state, "slot", a.slot);
  auto const from = of.from(a);
  lua_createtable(state, static_cast<int>(from.size()), 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    lua_newtable(state);
    set(state, "rank", from[i].rank);
    set(state, "slot", from[i].slot);
    lua_rawseti(state, -2, static_cast<lua_Integer>(i + 1));
  }
  lua_setfield(state, -2, "from");
}

/// plan(algorithm, ranks [, verb [, root [, tree]]]): not proved. ranks; blocks, a list of sizes in vectors; steps, a list of
/// lists of assignments {rank, block, slot, from = {{rank, slot}, …}}; result[rank + 1][block + 1], a slot, or none. Ranks,
/// blocks and slots are numbered from 0.
int plan(lua_State* state) {
  auto const& of = made_of(state);
  lua_newtable(state);
  set(state, "ranks", of.ranks);
  lua_createtable(state, static_cast<int>(of.blocks.size()), 0);
  for (std::size_t b = 0; b < of.blocks.size(); ++b) {
    push(state, of.blocks[b].size);
    lua_rawseti(state, -2, static_cast<lua_Integer>(b + 1));
  }
  lua_setfield(state, -2, "blocks");
  lua_newtable(state);
  for (std::size_t step = 0; step < of.steps.size(); ++step) {
    lua_newtable(state);
    for (std::size_t a = 0; a < of.steps[step].size(); ++a) {
      push_assignment(state, of, of.steps[step][a]);
      lua_rawseti(state, -2, static_cast<lua_Integer>(a + 1));
    }
    lua_rawseti(state, -2, static_cast<lua_Integer>(step + 1));
  }
  lua_setfield(state, -2, "steps");
  lua_newtable(state);
  for (std::size_t rank = 0; rank < of.result.size(); ++rank) {
    lua_newtable(state);
    for (std::size_t b = 0; b < of.result[rank].size(); ++b)
      if (of.result[rank][b] != schedule::no_slot) {
        push(state, of.result[rank][b]);
        lua_rawseti(state, -2, static_cast<lua_Integer>(b + 1));
      }
    lua_rawseti(state, -2, static_cast<lua_Integer>(rank + 1));
  }
  lua_setfield(state, -2, "result");
  return 1;
}

/// messages(algorithm, ranks [, verb [, root [, tree]]]): a list of steps, each a list of {from, to, blocks}; blocks are what
/// `to` reads of `from` in the step, in P-th parts of the vector. With them `combined`, what each rank combines, by rank.
int messages(lua_State* state) {
  auto const& of = made_of(state);
  schedule::units const in(of);
  auto const blocks = [&](std::int64_t units) { return schedule::fraction(units, in.denominator) * of.ranks; };
  lua_newtable(state);
  for (std::size_t step = 0; step < of.steps.size(); ++step) {
    auto const found = schedule::messages_in(of, step, in);
    lua_newtable(state);
    for (std::size_t i = 0; i < found.messages.size(); ++i) {
      lua_newtable(state);
      set(state, "from", found.messages[i].from);
      set(state, "to", found.messages[i].to);
      set(state, "blocks", blocks(found.messages[i].volume));
      lua_rawseti(state, -2, static_cast<lua_Integer>(i + 1));
    }
    lua_newtable(state);
    for (auto const& [rank, units] : found.combined) {
      push(state, blocks(units));
      lua_rawseti(state, -2, static_cast<lua_Integer>(rank));
    }
    lua_setfield(state, -2, "combined");
    lua_rawseti(state, -2, static_cast<lua_Integer>(step + 1));
  }
  return 1;
}

/// refusal(algorithm, ranks [, verb]): why there is no such schedule, or nil.
int refusal(lua_State* state) {
  try {
    made_of(state);
    lua_pushnil(state);
  } catch (schedule_error const& error) {
    push(state, error.what());
  }
  return 1;
}

bool is_made(context& with, std::string const& algorithm, schedule::demand const& wanted) {
  try {
    with.made(algorithm, wanted.ranks, wanted.verb);
    return true;
  } catch (schedule_error const&) {
    return false;
  }
}

/// algorithms(ranks [, verb [, nodes]]): the texts of all that are tried for so many ranks, radices and saved steps of each, and
/// that exist there.
int algorithms(lua_State* state) {
  schedule::demand wanted{.verb = verb_at(state, 2), .ranks = ranks_at(state, 1)};
  wanted.idempotent = true;
  wanted.same_bits = false;
  if (lua_istable(state, 3)) {
    lua_newtable(state);
    lua_pushvalue(state, 3);
    lua_setfield(state, -2, "nodes");
    wanted.nodes = costs_at(state, -1).nodes;
  }
  std::vector<std::string> texts;
  auto const flat = network_costs().flat;
  for (auto const& one :
       schedule::candidates_for(wanted, schedule::cost_model::flat(flat.alpha, flat.beta, flat.gamma)))
    if (is_made(context_of(state), one.text(), wanted)) texts.push_back(one.text());
  push(state, texts);
  return 1;
}

}  // namespace

void add_schedules(lua_State* state) {
  add(state, {{"counts", guarded<counts>},
              {"plan", guarded<plan>},
              {"messages", guarded<messages>},
              {"refusal", guarded<refusal>},
              {"algorithms", guarded<algorithms>}});
}

}  // namespace coset::cli::reproduction::lua
