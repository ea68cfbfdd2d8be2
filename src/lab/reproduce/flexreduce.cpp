// SPDX-License-Identifier: Apache-2.0
// J. Lee et al.: FlexReduce. Hosts of up to four ranks, joined at 1 GB/s; inside links are ten or fifty times as fast.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "lab/reproduce/checks.hpp"
#include "lab/reproduce/pricing.hpp"

namespace coset::cli::reproduction {
namespace {

/// 5 µs a message and 1 GB/s.
constexpr flat_costs between_hosts{.alpha = 5e-6, .beta = 1e-9, .gamma = 0};

using host_sizes = std::vector<rank_t>;

std::vector<host_sizes> hosts_of(std::size_t number) {
  if (number == 2) return {{2, 2}, {3, 2}, {3, 3}, {4, 3}, {4, 4}};
  return {{3, 3, 3}, {4, 3, 3}, {4, 4, 3}, {4, 4, 4}};
}

bool is_symmetric(host_sizes const& hosts) { return hosts.front() == hosts.back(); }

/// BlueConnect wants hosts of one size; others are one ring to it.
std::vector<std::pair<std::string, schedule::algorithm>> compared_on(host_sizes const& hosts) {
  schedule::algorithm const ring{"ring", {}};
  schedule::algorithm const blueconnect{"blueconnect", {{"dims", fmt::format("{}x{}", hosts.front(), hosts.size())}}};
  std::string const nodes = schedule::value_of(hosts, '+');
  return {{"ring", ring},
          {"BlueConnect", is_symmetric(hosts) ? blueconnect : ring},
          {"FlexReduce", {"flexreduce", {{"nodes", nodes}}}},
          {"unequal", {"unequal", {{"nodes", nodes}}}}};
}

rank_t ranks_on(host_sizes const& hosts) {
  rank_t ranks = 0;
  for (rank_t const size : hosts) ranks += size;
  return ranks;
}

auto times_on(std::size_t number) {
  return [=](pricing& by) {
    std::vector<point> points;
    for (double const times : {10, 50})
      for (host_sizes const& hosts : hosts_of(number)) {
        auto costs = by.costs(between_hosts);
        costs.inside = 1 / times;
        auto const on = cost_settings::of_nodes(hosts, costs).of(ranks_on(hosts));
        for (auto const& [curve, how] : compared_on(hosts))
          add_times(points,
                    {.setting = fmt::format("inside {:g} GB/s", times),
                     .curve = curve,
                     .ranks = ranks_on(hosts),
                     .algorithm = how.text(),
                     .mapping = times == 10 ? fmt::format("{}", fmt::join(hosts, "+")) : ""},
                    on.count(schedule::make(how, ranks_on(hosts))), {480'000, 480'000'000});
      }
    return points;
  };
}

std::vector<point> volumes(pricing&) {
  std::vector<point> points;
  auto const on_links = [](host_sizes const& hosts, schedule::schedule const& made) {
    return cost_settings::of_nodes(hosts, {}).of(ranks_on(hosts)).count(made).work.busiest().volume;
  };
  for (std::size_t const number : {2u, 3u})
    for (host_sizes const& hosts : hosts_of(number))
      for (auto const& [curve, how] : compared_on(hosts))
        points.push_back({.setting = fmt::format("{} hosts", number),
                          .curve = curve,
                          .ranks = ranks_on(hosts),
                          .bytes = 480'000'000,
                          .value = on_links(hosts, schedule::make(how, ranks_on(hosts))).value(),
                          .algorithm = how.text()});
  return points;
}

/// The items of twelve that each rank holds reduced after a step.
std::string items_after(std::size_t step) {
  auto const made = schedule::make(schedule::algorithm::parse("flexreduce(nodes=2+3)"), 5);
  std::map<rank_t, schedule::fraction> held;
  for (schedule::assignment const& a : made.steps[step])
    if (a.count > 1) held[a.rank] += made.blocks[a.block].size * 12;
  std::vector<std::string> text;
  for (auto const& [rank, items] : held) text.push_back(items.text());
  return fmt::format("{}", fmt::join(text, ", "));
}

finding is_no_more(curves const& all) {
  bool holds = true, less = true;
  for (point const* p : all.of("FlexReduce")) {
    double const ring = all.at(*p, "ring").value;
    holds = holds && p->value <= ring * (1 + 1e-9);
    less = less && p->value < ring * (1 - 1e-9);
  }
  return {holds, !holds ? "more somewhere" : less ? "less everywhere" : "no more anywhere"};
}

/// Of the model's own time, what a simulated run takes: the authors compare measurements with their model.
finding matches_simulated(curves const& all) {
  double least = 1e9, most = 0;
  for (point const* p : all.of("FlexReduce"))
    if (p->simulated && p->bytes > 1'000'000) {
      double const part = 100 * p->value / *p->simulated;
      least = std::min(least, part), most = std::max(most, part);
    }
  if (most == 0) return {false, "not measured"};
  return {least >= 90 && most <= 100, fmt::format("{:.0f} to {:.0f} % of what is simulated", least, most)};
}

figure times_figure(std::size_t number, double least, double most) {
  std::string const name = number == 2 ? "two" : "three", range = fmt::format("{:g} to {:g} %", least, most);
  auto const symmetric = [=](bool wanted) {
    return [=](rank_t ranks) {
      for (host_sizes const& hosts : hosts_of(number))
        if (ranks_on(hosts) == ranks) return is_symmetric(hosts) == wanted;
      return false;
    };
  };
  constexpr std::uint64_t large = 480'000'000;
  return {.source = "flexreduce",
          .name = name,
          .title = fmt::format("{} hosts of up to four ranks, 120 thousand and 120 million floats", name),
          .usual = between_hosts,
          .is_over_ranks = true,
          .experiment = "flexreduce",
          .draw = times_on(number),
          .claims = {{"of the ring's time FlexReduce saves, inside ten times as fast", range,
                      saves("FlexReduce", "ring", least, most, {.setting = "inside 10 GB/s", .from = large}),
                      "steps inside a host take a tenth of those between hosts; the claim wants links inside to be "
                      "faster, some fifty times as fast as those between"},
                     {"the same, inside fifty times as fast", range,
                      saves("FlexReduce", "ring", least, most, {.setting = "inside 50 GB/s", .from = large})},
                     {"against BlueConnect, hosts of one size", "equal",
                      as_fast("FlexReduce", "BlueConnect", {.from = large, .of = symmetric(true)})},
                     {"against it, hosts of two sizes, which are one ring to it", "ahead",
                      faster("FlexReduce", {"BlueConnect"}, {.from = large, .of = symmetric(false)})},
                     {"measured by its own model", "90 to 99 %", matches_simulated,
                      "a model is nothing that was measured; --simulation puts simulated times beside it"}}};
}

}  // namespace

source flexreduce_source() {
  return {"flexreduce",
          "J. Lee et al.: FlexReduce",
          {{.source = "flexreduce",
            .name = "2",
            .title = "nodes of two and three learners, 12 items",
            .claims = {worked("items held after the level of nodes", "6, 6, 4, 4, 4", [] { return items_after(0); }),
                       worked("after the root", "3, 3, 2, 2, 2", [] { return items_after(1); })}},
           {.source = "flexreduce",
            .name = "volumes",
            .title = "what crosses a host's busiest link in one direction",
            .of = unit::vectors,
            .is_over_ranks = true,
            .draw = volumes,
            .claims = {{"FlexReduce against the ring", "no more", is_no_more}}},
           times_figure(2, 32, 42),
           times_figure(3, 21, 25)}};
}

}  // namespace coset::cli::reproduction
