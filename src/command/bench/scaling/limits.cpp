// SPDX-License-Identifier: Apache-2.0
#include "command/bench/scaling/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace coset::cli {
namespace {

struct candidate {
  limit by;
  double time;
};

candidate longest(std::initializer_list<candidate> all) {
  return *std::max_element(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.time < b.time; });
}

double share_of(double part, limit_parts const& of) { return of.time > 0 ? std::min(part / of.time, 1.0) : 0; }

std::string percent(double part, limit_parts const& of) { return fmt::format("{:.0f} %", 100 * share_of(part, of)); }

/// In memory the ranks' own work goes through the same bus as the collective's bytes.
double through_memory(limit_parts const& of) { return of.where == level::memory ? of.own_work + of.moving : 0; }

std::string words_of_memory(limit_parts const& of, std::string_view nodes) {
  auto text = fmt::format("memory bandwidth of {}: the bytes alone take {} of the time", nodes,
                          percent(through_memory(of), of));
  if (of.own_work > 0)
    text += fmt::format(" (the ranks' own writing and reading {}, the collective {})", percent(of.own_work, of),
                        percent(of.moving, of));
  return text;
}

std::string words_of(limit by, limit_parts const& of, double part, std::string_view nodes) {
  auto const share = percent(part, of);
  char const* const caches = of.where == level::own_cache ? "the cores' own caches" : "the shared cache";
  switch (by) {
    case limit::turns:
      return "turns: ranks share processors, and wait until the system lets the others run";
    case limit::flags:
      return fmt::format("latency of flags: that all ranks know of each other takes {} of the time", share);
    case limit::own_work:
      return fmt::format("the ranks' own work: writing inputs and reading results takes {} of the cycle", share);
    case limit::caches:
      return fmt::format("bandwidth of {}: folding and writing without any wait takes {} of the time", caches, share);
    case limit::handing_over:
      return fmt::format("cache lines from core to core: to fetch what others have just written takes {} of the time",
                         share);
    case limit::memory:
      return words_of_memory(of, nodes);
    case limit::between_nodes:
      return fmt::format("links between nodes: the bytes that cross take {} of the time", share);
    case limit::other:
      break;
  }
  bool const is_alone = of.flags == 0 && of.handing_over == 0;  // one rank, which waits for nobody
  return is_alone ? fmt::format("the call itself: {} of the time is not the bytes'", share)
                  : fmt::format("nothing that was measured alone: {} of the time is left over", share);
}

}  // namespace

std::string_view name_of(limit by) noexcept {
  constexpr std::array<std::string_view, limits> names{"turns",        "flags",  "own_work",      "caches",
                                                       "handing_over", "memory", "between_nodes", "other"};
  return names[static_cast<std::size_t>(by)];
}

std::string_view name_of(level where) noexcept {
  return where == level::own_cache ? "own cache" : where == level::shared_cache ? "shared cache" : "memory";
}

limit_found limit_of(limit_parts const& of, std::string_view nodes) {
  auto const found = [&](limit by, double part) {
    return limit_found{by, share_of(part, of), words_of(by, of, part, nodes)};
  };
  if (of.time <= 0) return {limit::other, 0, "no time was measured"};
  if (of.share_processors) return found(limit::turns, of.time);
  bool const in_memory = of.where == level::memory;
  auto const most = longest({{limit::memory, through_memory(of)},
                             {limit::between_nodes, of.between_nodes},
                             {limit::flags, of.flags},
                             {limit::own_work, in_memory ? 0 : of.own_work},
                             {limit::caches, in_memory ? 0 : of.moving},
                             {limit::handing_over, of.handing_over}});
  // Moving and fetching are two views of the same bytes.
  double const left = of.time - of.flags - of.own_work - std::max({of.moving, of.handing_over, of.between_nodes});
  return left > most.time ? found(limit::other, left) : found(most.by, most.time);
}

level level_of(double bytes_of_rank, double ranks_of_cache, cache_sizes const& sizes) {
  if (bytes_of_rank <= sizes.own) return level::own_cache;
  return bytes_of_rank * ranks_of_cache <= sizes.shared ? level::shared_cache : level::memory;
}

cache_sizes cache_sizes_of(topology const& machine) {
  std::set<unsigned> caches;
  for (processor const& p : machine.processors) caches.insert(machine.has_l3 ? p.l3 : p.l2);
  double const all = static_cast<double>(machine.cache_bytes);
  return {static_cast<double>(machine.l2_bytes), caches.empty() ? 0 : all / static_cast<double>(caches.size())};
}

}  // namespace coset::cli
