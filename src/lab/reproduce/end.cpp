// SPDX-License-Identifier: Apache-2.0
// V. End et al.: Butterfly-like Algorithms for GASPI Split Phase Allreduce. No parameters are given: those of [KZ], and
// five messages under way at once, or one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>

#include "lab/reproduce/checks.hpp"
#include "lab/reproduce/pricing.hpp"

namespace coset::cli::reproduction {
namespace {

std::vector<point> times_of_dissemination(pricing& by, std::uint64_t bytes) {
  std::vector<point> points;
  for (rank_t const ports : {5u, 1u})
    for (rank_t const ranks : {2u, 4u, 6u, 7u, 8u, 12u, 16u, 24u, 32u, 36u, 37u, 48u, 64u, 96u, 128u})
      for (auto const& [curve, algorithm] : {std::pair{"dissemination, n = 5", "adapted_dissemination(n=5)"},
                                             {"Bruck and Ho, n = 5", "bruck_ho(n=5)"},
                                             {"binomial tree", "binomial"}})
        add_times(points,
                  {.setting = ports == 1 ? "one message at once" : "five at once",
                   .curve = curve,
                   .ranks = ranks,
                   .algorithm = algorithm},
                  by.flat(algorithm, ranks, {.ports = ports}), {bytes});
  return points;
}

/// A rank's number as a subscript; ranks below ten.
std::string subscript(rank_t number) {
  constexpr std::array digits{"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  return digits.at(number);
}

/// The source folds the own value first, and then those of ranks before it.
std::vector<schedule::source> latest_first(std::span<schedule::source const> from) {
  return {from.rbegin(), from.rend()};
}

/// What ranks hold of a schedule with one block, as the source writes it: a rank's own value first, then those before it.
class held_values {
 public:
  held_values(std::string const& algorithm, rank_t ranks)
      : made_(schedule::make(schedule::algorithm::parse(algorithm), ranks)) {
    for (rank_t r = 0; r < ranks; ++r) values_[{r, 0}] = {"x" + subscript(r)};
    for (auto const& step : made_.steps)
      for (schedule::assignment const& a : step)
        for (schedule::source const& from : latest_first(made_.from(a))) {
          auto const& part = values_.at({from.rank, from.slot});
          auto& whole = values_[{a.rank, a.slot}];
          whole.insert(whole.end(), part.begin(), part.end());
        }
  }

  /// "x₀∘x₈∘x₇"
  std::string after(std::size_t step, rank_t rank) const {
    return fmt::format("{}", fmt::join(values_.at({rank, last(step, rank).slot}), "∘"));
  }

  /// "S¹₀∘S¹₆∘S¹₃": whose values of the step before it folds.
  std::string folded_in_second(rank_t rank) const {
    std::vector<std::string> parts;
    for (schedule::source const& from : latest_first(made_.from(last(1, rank))))
      parts.push_back("S¹" + subscript(from.rank));
    return fmt::format("{}", fmt::join(parts, "∘"));
  }

  /// How often the value of rank 0 is in its result.
  std::string count_of_first() const {
    auto const times = std::ranges::count(values_.at({0, made_.result[0][0]}), "x" + subscript(0));
    return times == 1 ? "once" : times == 2 ? "twice" : fmt::format("{} times", times);
  }

  /// "S1 of 3, S0 of 5": what a rank reads of others in a step; S1 has their own value, S0 has not.
  std::string read(std::size_t step, rank_t rank) const {
    std::map<rank_t, bool> has_own;
    for (schedule::assignment const& a : made_.steps[step])
      for (schedule::source const& from : made_.from(a))
        if (a.rank == rank && from.rank != rank) {
          auto const& value = values_.at({from.rank, from.slot});
          has_own[from.rank] = std::ranges::find(value, "x" + subscript(from.rank)) != value.end();
        }
    std::vector<std::string> parts;
    for (auto const& [from, own] : has_own) parts.push_back(fmt::format("{} of {}", own ? "S1" : "S0", from));
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  /// "x₂∘x₁": what it reads of one of them.
  std::string read_of(rank_t from, std::size_t step, rank_t rank) const {
    for (schedule::assignment const& a : made_.steps[step])
      for (schedule::source const& one : made_.from(a))
        if (a.rank == rank && one.rank == from)
          return fmt::format("{}", fmt::join(values_.at({one.rank, one.slot}), "∘"));
    return "nothing";
  }

 private:
  schedule::assignment const& last(std::size_t step, rank_t rank) const {
    schedule::assignment const* found = nullptr;
    for (schedule::assignment const& a : made_.steps[step])
      if (a.rank == rank) found = &a;
    if (found == nullptr) throw std::out_of_range(fmt::format("rank {} does nothing in step {}", rank, step));
    return *found;
  }

  schedule::schedule made_;
  std::map<std::pair<rank_t, schedule::slot_t>, std::vector<std::string>> values_;
};

figure examples() {
  auto const plain_9 = std::make_shared<held_values>("dissemination(n=2)", 9);
  auto const plain_8 = std::make_shared<held_values>("dissemination(n=2)", 8);
  auto const adapted_8 = std::make_shared<held_values>("adapted_dissemination(n=2)", 8);
  auto const bruck_ho_8 = std::make_shared<held_values>("bruck_ho(n=2)", 8);
  return {
      .source = "end",
      .name = "table1",
      .title = "dissemination with n = 2, and Bruck and Ho",
      .claims = {worked("P = 9, rank 0 after round 1", "x₀∘x₈∘x₇", [=] { return plain_9->after(0, 0); }),
                 worked("P = 9, rank 0 in round 2", "S¹₀∘S¹₆∘S¹₃", [=] { return plain_9->folded_in_second(0); }),
                 worked("P = 8, plain, rank 0 in round 2", "S¹₀∘S¹₅∘S¹₂", [=] { return plain_8->folded_in_second(0); }),
                 worked("x₀ in its result", "twice", [=] { return plain_8->count_of_first(); }),
                 worked("P = 8, adapted: rank 2 sends rank 0 in round 2", "x₂∘x₁",
                        [=] { return adapted_8->read_of(2, 1, 0); }),
                 worked("x₀ in its result then", "once", [=] { return adapted_8->count_of_first(); }),
                 worked("Bruck and Ho, P = 8: rank 0 reads in round 1", "S1 of 1, S1 of 2",
                        [=] { return bruck_ho_8->read(0, 0); }),
                 worked("and in round 2", "S1 of 3, S0 of 5", [=] { return bruck_ho_8->read(1, 0); })}};
}

figure over_ranks_of(std::string name, std::string title, std::uint64_t bytes) {
  return {
      .source = "end",
      .name = std::move(name),
      .title = std::move(title),
      .is_over_ranks = true,
      .draw = [=](pricing& by) { return times_of_dissemination(by, bytes); },
      .claims = {{"dissemination against the binomial tree, five messages at once", "faster",
                  faster("dissemination, n = 5", {"binomial tree"}, {.setting = "five at once"})},
                 {"the same, one message at once", "faster",
                  faster("dissemination, n = 5", {"binomial tree"}, {.setting = "one message at once"}),
                  "messages one after another cost n latencies a round, on some numbers of ranks as many as the tree's "
                  "2⌈log₂P⌉; the source's are one-sided and under way at once"}}};
}

}  // namespace

source end_source() {
  return {"end",
          "V. End et al.: Butterfly-like Algorithms for GASPI Split Phase Allreduce",
          {examples(), over_ranks_of("int", "one int", 4), over_ranks_of("doubles", "255 doubles", 255 * 8)}};
}

}  // namespace coset::cli::reproduction
