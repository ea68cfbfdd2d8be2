// SPDX-License-Identifier: Apache-2.0
// J. L. Träff: Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms. No parameters are given: those of [KZ].
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>

#include "lab/reproduce/checks.hpp"
#include "lab/reproduce/pricing.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/groups/chains.hpp"

namespace coset::cli::reproduction {
namespace {

constexpr rank_t most_counted_ranks = 64;

std::vector<point> circulant_and_rivals(pricing& by) {
  std::vector<point> points;
  for (auto const& [curve, algorithm] :
       {std::pair{"ring", "ring"}, {"Rabenseifner", "recursive_halving"}, {"circulant", "circulant"}})
    for (rank_t const ranks : {16u, 32u, 64u})
      add_times(points, {.curve = curve, .ranks = ranks, .algorithm = algorithm}, by.flat(algorithm, ranks),
                {1 << 10, 256 << 10, 1 << 20, 16 << 20});
  return points;
}

/// The first number of ranks whose circulant schedule differs from what is expected of it.
std::string circulant_exception(verb what, std::int64_t ways) {
  for (rank_t ranks = 2; ranks <= most_counted_ranks; ++ranks) {
    auto const found = schedule::validate(schedule::make(schedule::algorithm::parse("circulant"), ranks, what));
    auto const rounds = static_cast<std::uint32_t>(std::bit_width(ranks - 1) * ways);
    schedule::fraction const part(ranks - 1, ranks);
    if (found.steps != rounds || found.sent_max != part * ways || found.received_max != part * ways ||
        found.combined_max != part)
      return fmt::format("{} ranks: {} rounds, {} vectors sent, {} received, {} combined", ranks, found.steps,
                         found.sent_max.text(), found.received_max.text(), found.combined_max.text());
  }
  return "";
}

std::vector<claim> claims_of_times() {
  return {{"circulant against the ring", "⌈log₂p⌉ rounds each way instead of p−1", faster("circulant", {"ring"})},
          {"circulant against Rabenseifner, at powers of two", "as many rounds and blocks",
           as_fast("circulant", "Rabenseifner")}};
}

}  // namespace

source traff_source() {
  std::string const cases = fmt::format("2 to {} ranks", most_counted_ranks);
  return {"traff",
          "J. L. Träff: Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms",
          {{.source = "traff",
            .name = "example",
            .title = "skips for 22 ranks",
            .claims = {worked("skips", "11, 6, 3, 2, 1",
                              [] { return fmt::format("{}", fmt::join(schedule::skips(22), ", ")); })}},
           {.source = "traff",
            .name = "counts",
            .title = "rounds, blocks and combines",
            .claims = {for_all("reduce-scatter", "⌈log₂p⌉ rounds; p−1 blocks sent, received and reduced", cases,
                               [] { return circulant_exception(verb::reduce_scatter, 1); }),
                       for_all("allreduce", "2⌈log₂p⌉ rounds; 2(p−1) blocks sent and received, p−1 reduced", cases,
                               [] { return circulant_exception(verb::allreduce, 2); })}},
           {.source = "traff",
            .name = "sizes",
            .title = "time over size",
            .draw = circulant_and_rivals,
            .claims = claims_of_times()},
           {.source = "traff",
            .name = "ranks",
            .title = "time over ranks",
            .is_over_ranks = true,
            .draw = circulant_and_rivals,
            .claims = claims_of_times()}}};
}

}  // namespace coset::cli::reproduction
