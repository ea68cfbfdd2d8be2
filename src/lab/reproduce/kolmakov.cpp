// SPDX-License-Identifier: Apache-2.0
// D. Kolmakov, X. Zhang: A Generalization of the Allreduce Operation. Their model is one cost for all pairs of ranks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "lab/reproduce/checks.hpp"
#include "lab/reproduce/pricing.hpp"
#include "planning/schedule/groups/group.hpp"

namespace coset::cli::reproduction {
namespace {

constexpr rank_t kolmakov_ranks = 127;
// Up to the 160 cores of the paper, mainly at and around powers of two.
std::vector<rank_t> const kolmakov_all_ranks{4,  7,  8,  9,  12, 16,  17,  24,  32,  33,  48,
                                             63, 64, 65, 80, 96, 112, 127, 128, 129, 144, 160};
constexpr std::uint64_t open_mpi_ring_from = 10'000;  // where the paper's Open MPI leaves recursive doubling

/// An algorithm, or the choice of one that depends on ranks and size.
struct choice_of {
  std::string curve;
  std::function<std::string(pricing&, rank_t, std::uint64_t)> algorithm;
  std::string simulated_as = {};
};

std::string proposed_with(std::uint32_t saved) { return fmt::format("generalized(saved_steps={})", saved); }

std::uint32_t rounds_of(rank_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }

double microseconds_of(pricing& by, std::string const& algorithm, rank_t ranks, std::uint64_t bytes) {
  return by.flat(algorithm, ranks).price(static_cast<double>(bytes)).total() * 1e6;
}

std::string fastest_of(pricing& by, std::vector<std::string> const& all, rank_t ranks, std::uint64_t bytes) {
  return *std::ranges::min_element(all, {}, [&](auto const& one) { return microseconds_of(by, one, ranks, bytes); });
}

std::string best_proposed(pricing& by, rank_t ranks, std::uint64_t bytes) {
  std::vector<std::string> all;
  for (std::uint32_t saved = 0; saved <= rounds_of(ranks); ++saved) all.push_back(proposed_with(saved));
  return fastest_of(by, all, ranks, bytes);
}

std::string estimated_proposed(pricing& by, rank_t ranks, std::uint64_t bytes) {
  auto const costs = by.costs({});
  return proposed_with(schedule::saved_steps(schedule::cost_model::flat(costs.alpha, costs.beta, costs.gamma), ranks,
                                             static_cast<double>(bytes)));
}

choice_of always(std::string curve, std::string const& algorithm, std::string simulated_as = "") {
  return {std::move(curve), [=](pricing&, rank_t, std::uint64_t) { return algorithm; }, std::move(simulated_as)};
}

choice_of const with_best_r{"best r", best_proposed};
choice_of const with_estimated_r{"estimated r", estimated_proposed};
choice_of const open_mpi{"Open MPI",
                         [](pricing&, rank_t, std::uint64_t bytes) -> std::string {
                           return bytes < open_mpi_ring_from ? "recursive_doubling" : "ring";
                         },
                         "simgrid:ompi"};
choice_of const halving = always("recursive halving", "recursive_halving", "simgrid:rab_rdb");
choice_of const doubling = always("recursive doubling", "recursive_doubling", "simgrid:rdb");
choice_of const ring = always("ring", "ring", "simgrid:lr");
choice_of const bandwidth_optimal = always("r = 0", proposed_with(0));
choice_of const latency_optimal{"r = L",
                                [](pricing&, rank_t ranks, std::uint64_t) { return proposed_with(rounds_of(ranks)); }};

auto times_of(std::vector<choice_of> const& all, std::vector<rank_t> const& ranks,
              std::vector<std::uint64_t> const& sizes) {
  return [=](pricing& by) {
    std::vector<point> points;
    for (choice_of const& one : all)
      for (rank_t const number : ranks)
        for (std::uint64_t const bytes : sizes) {
          auto const algorithm = one.algorithm(by, number, bytes);
          add_times(points,
                    {.curve = one.curve,
                     .ranks = number,
                     .algorithm = algorithm,
                     .mapping = "shuffled",
                     .simulated_as = one.simulated_as},
                    by.flat(algorithm, number), {bytes});
        }
    return points;
  };
}

std::vector<point> ratios(pricing& by) {
  std::vector<point> points;
  for (rank_t const ranks : {7u, 22u, 48u, 63u, 100u, 127u})
    for (std::uint64_t const bytes : sizes_between(32, 64'000'000)) {
      auto const known = fastest_of(by, {"recursive_doubling", "recursive_halving", "ring"}, ranks, bytes);
      points.push_back({.curve = "best r by best known",
                        .ranks = ranks,
                        .bytes = bytes,
                        .value = microseconds_of(by, best_proposed(by, ranks, bytes), ranks, bytes) /
                                 microseconds_of(by, known, ranks, bytes)});
    }
  return points;
}

finding is_below_one(curves const& all, std::uint64_t to) {
  double most = 0;
  for (point const& p : all.points())
    if (p.bytes <= to) most = std::max(most, p.value);
  return {most < 1, fmt::format("at most {:.3f} of their time", most)};
}

/// Where mixing gains most, and where the two extremes take the same time, differ by a factor of two at most.
finding gains_most_at_the_crossing(curves const& all) {
  auto const points = all.of("best r");
  point const *best = points.front(), *crossing = points.front();
  auto const gain = [&](point const& p) {
    return std::min(all.at(p, "r = 0").value, all.at(p, "r = L").value) / p.value;
  };
  auto const distance = [&](point const& p) {
    return std::abs(std::log(all.at(p, "r = 0").value / all.at(p, "r = L").value));
  };
  for (point const* p : points) {
    if (gain(*p) > gain(*best)) best = p;
    if (distance(*p) < distance(*crossing)) crossing = p;
  }
  return {
      best->bytes <= 2 * crossing->bytes && crossing->bytes <= 2 * best->bytes,
      fmt::format("{:.2f} times as fast at {} bytes; they cross near {}", gain(*best), best->bytes, crossing->bytes)};
}

/// x ↦ x + d as cycles, "(0 1)(2 3)".
std::string cycles(schedule::group const& of, schedule::element d) {
  std::string text;
  std::vector<bool> seen(of.order());
  for (schedule::element start = 0; start < of.order(); ++start) {
    std::vector<schedule::element> cycle;
    for (schedule::element x = start; !seen[x]; x = of.add(x, d)) seen[x] = true, cycle.push_back(x);
    if (!cycle.empty()) text += fmt::format("({})", fmt::join(cycle, " "));
  }
  return text;
}

bool is_power_of_two(rank_t ranks) { return std::has_single_bit(ranks); }

std::vector<claim> claims_of_table_1() {
  auto const binary = schedule::group::binary(3);
  auto const element = [binary](schedule::element d) { return [=] { return cycles(binary, d); }; };
  return {
      worked("generator of the cyclic group of order 8", "(0 1 2 3 4 5 6 7)",
             [] { return cycles(schedule::group::cyclic(8), 1); }),
      worked("first generator of Z₂³", "(0 1)(2 3)(4 5)(6 7)", element(1)),
      worked("second generator", "(0 2)(1 3)(4 6)(5 7)", element(2)),
      worked("third generator", "(0 4)(1 5)(2 6)(3 7)", element(4)),
      {"its name in (1)", "h₃",
       [binary](curves const&) {
         for (schedule::element d = 0; d < binary.order(); ++d)
           if (cycles(binary, d) == "(0 4)(1 5)(2 6)(3 7)") return finding{d == 3, d == 4 ? "h₄" : "another"};
         return finding{false, "no element"};
       },
       "(1) numbers generators where Table 1 numbers elements: its h₃ is the table's h₄"},
  };
}

figure table_2() {
  auto const costs = schedule::cost_model::ten_gigabit();
  auto const text = [](double value) { return [=] { return fmt::format("{:g}", value); }; };
  return {.source = "kolmakov",
          .name = "table2",
          .title = "parameters of the model",
          .claims = {worked("α, seconds a message", "3e-05", text(costs.links.front().latency)),
                     worked("β, seconds a byte", "1e-08", text(costs.links.front().per_byte)),
                     worked("γ, seconds a byte combined", "2e-10", text(costs.combine_per_byte))}};
}

/// Powers of two times the first, and round numbers between them, which are simulated.
std::vector<std::uint64_t> plotted_sizes(std::uint64_t from, std::uint64_t to) {
  auto sizes = sizes_between(from, to);
  for (std::uint64_t decade = 100; decade <= to; decade *= 10)
    for (std::uint64_t const size : {decade, decade * 32 / 10})
      if (size >= from && size <= to) sizes.push_back(size);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

figure over_sizes(std::string name, std::string title, std::vector<choice_of> const& all, std::uint64_t from,
                  std::uint64_t to, std::vector<claim> claims) {
  return {.source = "kolmakov",
          .name = std::move(name),
          .title = std::move(title) + " on 127 ranks",
          .experiment = "kolmakov",
          .draw = times_of(all, {kolmakov_ranks}, plotted_sizes(from, to)),
          .claims = std::move(claims)};
}

figure over_ranks(std::string name, std::string title, std::uint64_t bytes, std::vector<claim> claims) {
  return {
      .source = "kolmakov",
      .name = std::move(name),
      .title = std::move(title),
      .is_over_ranks = true,
      .experiment = "kolmakov",
      .draw = times_of({with_estimated_r, with_best_r, open_mpi, halving, doubling, ring}, kolmakov_all_ranks, {bytes}),
      .claims = std::move(claims)};
}

claim beats_doubling() {
  // "Well above": by an eighth at least.
  auto const well_above = [](rank_t ranks) {
    return !is_power_of_two(ranks) && ranks >= std::bit_floor(ranks) * 9 / 8;
  };
  return {"against recursive doubling, where the number of ranks is well above a power of two", "faster",
          faster("best r", {"recursive doubling"}, {.of = well_above})};
}

}  // namespace

source kolmakov_source() {
  std::string const same_bytes =
      "one cost for all pairs: the ring sends as many bytes as r = 0, in 252 steps instead of 14; what may favour it, "
      "messages between neighbours and small pieces that stay in caches, is no part of the model";
  return {
      "kolmakov",
      "D. Kolmakov, X. Zhang: A Generalization of the Allreduce Operation",
      {{.source = "kolmakov",
        .name = "1",
        .title = "time with the best r, divided by the least of recursive doubling, recursive halving and ring",
        .of = unit::ratio,
        .draw = ratios,
        .claims = {{"against all three, small and medium sizes", "faster",
                    [](curves const& all) { return is_below_one(all, 512 << 10); }}}},
       over_sizes("7", "small vectors", {with_estimated_r, with_best_r, open_mpi, halving}, 16, 10'000,
                  {{"best r against Open MPI and recursive halving", "faster",
                    faster("best r", {"Open MPI", "recursive halving"})},
                   {"estimated r against them", "faster", faster("estimated r", {"Open MPI", "recursive halving"})}}),
       over_sizes("8", "large vectors", {with_estimated_r, with_best_r, open_mpi, halving}, 256'000, 64'000'000,
                  {{"best r against recursive halving", "faster", faster("best r", {"recursive halving"})},
                   {"at the end, the ring that Open MPI takes, against best r", "faster",
                    faster("Open MPI", {"best r"}, {.from = 32'000'000}), same_bytes}}),
       over_sizes("9", "medium vectors", {with_estimated_r, with_best_r, halving}, 4'000, 512'000,
                  {{"best r against recursive halving", "faster", faster("best r", {"recursive halving"})},
                   {"estimated r against it", "faster", faster("estimated r", {"recursive halving"})}}),
       over_sizes("10", "optimal bandwidth, optimal latency and what is between",
                  {bandwidth_optimal, latency_optimal, with_best_r}, 16, 4'000'000,
                  {{"best r against both gains most", "where the two extremes cross", gains_most_at_the_crossing}}),
       over_ranks("11", "425 bytes", 425, {beats_doubling()}),
       over_ranks("12", "9 KB", 9'000,
                  {beats_doubling(),
                   {"against all others", "faster",
                    faster("best r", {"Open MPI", "recursive halving", "ring"},
                           {.of = [](rank_t ranks) { return !is_power_of_two(ranks); }})}}),
       {.source = "kolmakov", .name = "table1", .title = "groups of eight ranks", .claims = claims_of_table_1()},
       table_2()}};
}

}  // namespace coset::cli::reproduction
