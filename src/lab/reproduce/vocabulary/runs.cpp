// SPDX-License-Identifier: Apache-2.0
// Words about this machine: two plans in turn, so that both meet the same noise.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "coset/coset.hpp"
#include "lab/reproduce/lua.hpp"

namespace coset::cli::reproduction::lua {
namespace {

constexpr std::size_t rounds = 21;
constexpr double seconds_a_burst = 4e-3;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Seconds of one call of each of two plans, in rounds, as rank 0 sees them.
template <class Op>
std::vector<std::pair<double, double>> timed(std::string const& first, std::string const& second, rank_t ranks,
                                             std::size_t count) {
  team on({.ranks = ranks});
  coset::plan<double, Op> const both[]{{on, verb::allreduce, count, Op{}, plan_named(first)},
                                       {on, verb::allreduce, count, Op{}, plan_named(second)}};
  std::vector<std::pair<double, double>> found(rounds);
  on.run([&](member& me) {
    std::vector<double> in(count, 1), out(count);
    auto const burst = [&](auto const& one, std::size_t calls) {
      barrier(me);
      auto const begin = std::chrono::steady_clock::now();
      for (std::size_t i = 0; i < calls; ++i) one.execute(me, in, out);
      return seconds_since(begin) / static_cast<double>(calls);
    };
    // All ranks make as many calls as rank 0 takes for a burst.
    auto const calls_of = [&](auto const& one) {
      std::size_t calls = std::max<std::size_t>(1, static_cast<std::size_t>(seconds_a_burst / burst(one, 3)));
      broadcast(me, std::span(&calls, 1), 0);
      return calls;
    };
    std::size_t const of_first = calls_of(both[0]), of_second = calls_of(both[1]);
    for (auto& round : found) {
      std::pair const now{burst(both[0], of_first), burst(both[1], of_second)};
      if (me.rank() == 0) round = now;
    }
  });
  return found;
}

double median(std::vector<double> of) {
  std::ranges::nth_element(of, of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2));
  return of[of.size() / 2];
}

/// Why nothing runs here; empty if it may.
std::string hindrance(context const& with, rank_t ranks) {
  if (!with.may_run()) return "not run: --run";
  if (ranks > std::thread::hardware_concurrency())
    return fmt::format("this machine has {} processors", std::thread::hardware_concurrency());
  return {};
}

/// run_ratio(first, second, ranks, bytes [, operation]): the time of an allreduce of doubles by one plan, as
/// "algorithm/storage", divided by that of another, and microseconds of both as words; operation is "sum" or "max".
int run_ratio(lua_State* state) {
  auto const ranks = ranks_at(state, 3);
  if (auto const why = hindrance(context_of(state), ranks); !why.empty()) {
    lua_pushnil(state);
    push(state, why);
    return 2;
  }
  auto const count = static_cast<std::size_t>(luaL_checknumber(state, 4) / sizeof(double));
  auto const first = text_at(state, 1), second = text_at(state, 2);
  auto const found = text_at(state, 5, "sum") == "max" ? timed<maximum>(first, second, ranks, count)
                                                       : timed<plus>(first, second, ranks, count);
  std::vector<double> ratios, of_first, of_second;
  for (auto const& [a, b] : found) {
    ratios.push_back(a / b);
    of_first.push_back(a), of_second.push_back(b);
  }
  double const ratio = median(ratios);
  push(state, ratio);
  push(state, fmt::format("{:.3g}, {:.3g} µs by {:.3g}", ratio, median(of_first) * 1e6, median(of_second) * 1e6));
  return 2;
}

/// run_planning(algorithm, planned, ranks, bytes): the time to make the schedule for `planned` ranks, by that of an allreduce of
/// doubles over `ranks`, which has its plan.
int run_planning(lua_State* state) {
  auto const how = schedule::algorithm::parse(text_at(state, 1));
  auto const planned = ranks_at(state, 2), ranks = ranks_at(state, 3);
  if (auto const why = hindrance(context_of(state), ranks); !why.empty()) {
    lua_pushnil(state);
    push(state, why);
    return 2;
  }
  std::vector<double> of_plan, of_call;
  auto const count = static_cast<std::size_t>(luaL_checknumber(state, 4) / sizeof(double));
  for (auto const& [call, same] : timed<plus>("auto", "auto", ranks, count)) {
    auto const begin = std::chrono::steady_clock::now();
    auto const made = schedule::make(how, planned);
    of_plan.push_back(seconds_since(begin));
    of_call.push_back(call);
  }
  double const plan = median(of_plan), call = median(of_call);
  push(state, plan / call);
  push(state, fmt::format("{:.3g}, {:.3g} µs by {:.3g}", plan / call, plan * 1e6, call * 1e6));
  return 2;
}

}  // namespace

void add_runs(lua_State* state) {
  add(state, {{"run_ratio", guarded<run_ratio>}, {"run_planning", guarded<run_planning>}});
}

}  // namespace coset::cli::reproduction::lua
