// SPDX-License-Identifier: Apache-2.0
// A figure is a table: a row per size or number of ranks, a column per curve.
#include "cli/price/cost_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <ostream>

#include "coset/error.hpp"
#include "schedule/registry/algorithm.hpp"

namespace coset::cli {
namespace {

constexpr rank_t paper_ranks = 127;
// Up to the 160 cores of the paper, mainly at and around powers of two.
constexpr std::array<rank_t, 22> compared_ranks{4,  7,  8,  9,  12, 16,  17,  24,  32,  33,  48,
                                                63, 64, 65, 80, 96, 112, 127, 128, 129, 144, 160};
constexpr double ring_from_bytes = 10e3;  // where the paper's Open MPI switches from recursive doubling

// All algorithms that the figures compare, on one number of ranks.
class contest {
 public:
  contest(rank_t ranks, schedule::cost_model const& model)
      : model_(model),
        ranks_(ranks),
        doubling_(counts_of("recursive_doubling")),
        halving_(counts_of("recursive_halving")),
        ring_(counts_of("ring")) {
    std::uint32_t steps = 0;
    while (rank_t{1} << steps < ranks) ++steps;
    for (std::uint32_t saved = 0; saved <= steps; ++saved)
      proposed_.push_back(counts_of(fmt::format("generalized(saved_steps={})", saved)));
  }

  double doubling(double bytes) const { return doubling_.seconds(model_, bytes); }
  double halving(double bytes) const { return halving_.seconds(model_, bytes); }
  double ring(double bytes) const { return ring_.seconds(model_, bytes); }
  double usual(double bytes) const { return bytes < ring_from_bytes ? doubling(bytes) : ring(bytes); }
  double known(double bytes) const { return std::min({doubling(bytes), halving(bytes), ring(bytes)}); }

  double bandwidth_optimal(double bytes) const { return proposed_.front().seconds(model_, bytes); }
  double latency_optimal(double bytes) const { return proposed_.back().seconds(model_, bytes); }
  double estimated(double bytes) const {
    return proposed_[schedule::saved_steps(model_, ranks_, bytes)].seconds(model_, bytes);
  }
  double best(double bytes) const {
    double fastest = bandwidth_optimal(bytes);
    for (auto const& saved : proposed_) fastest = std::min(fastest, saved.seconds(model_, bytes));
    return fastest;
  }

 private:
  schedule::counts counts_of(std::string const& text) const {
    return {schedule::make(schedule::algorithm::parse(text), ranks_), model_};
  }

  schedule::cost_model const& model_;
  rank_t ranks_;
  schedule::counts doubling_, halving_, ring_;
  std::vector<schedule::counts> proposed_;  // by saved steps
};

struct curve {
  std::string name;
  std::function<double(contest const&, double)> seconds;
};

curve const doubling{"rec. doubling", &contest::doubling}, halving{"rec. halving", &contest::halving},
    ring{"ring", &contest::ring}, usual{"Open MPI", &contest::usual}, bandwidth{"r = 0", &contest::bandwidth_optimal},
    latency{"r = L", &contest::latency_optimal}, estimated{"estimated r", &contest::estimated},
    best{"best r", &contest::best};

std::vector<double> geometric(double first, double last) {
  std::vector<double> sizes;
  for (double size = first; size <= last; size *= 2) sizes.push_back(size);
  return sizes;
}

void print_head(std::ostream& out, std::string const& first, std::vector<std::string> const& names) {
  out << fmt::format("{:>10}", first);
  for (auto const& name : names) out << fmt::format("  {:>13}", name);
  out << '\n';
}

std::vector<std::string> names_of(std::vector<curve> const& curves) {
  std::vector<std::string> names;
  for (curve const& c : curves) names.push_back(c.name);
  return names;
}

void print_row(std::ostream& out, std::vector<curve> const& curves, contest const& all, double bytes) {
  for (curve const& c : curves) out << fmt::format("  {:>13.1f}", c.seconds(all, bytes) * 1e6);
  out << '\n';
}

void over_sizes(std::ostream& out, std::vector<curve> const& curves, std::vector<double> const& sizes,
                schedule::cost_model const& model) {
  contest const all(paper_ranks, model);
  out << fmt::format("{} ranks, microseconds over bytes\n", paper_ranks);
  print_head(out, "bytes", names_of(curves));
  for (double const bytes : sizes) {
    out << fmt::format("{:>10.0f}", bytes);
    print_row(out, curves, all, bytes);
  }
}

void over_ranks(std::ostream& out, std::vector<curve> const& curves, double bytes, schedule::cost_model const& model) {
  out << fmt::format("{:.0f} bytes, microseconds over ranks\n", bytes);
  print_head(out, "ranks", names_of(curves));
  for (rank_t const ranks : compared_ranks) {
    out << fmt::format("{:>10}", ranks);
    print_row(out, curves, contest(ranks, model), bytes);
  }
}

void ratios(std::ostream& out, schedule::cost_model const& model) {
  std::vector<contest> contests;
  std::vector<std::string> names;
  for (rank_t const ranks : {7u, 22u, 48u, 63u, 100u, 127u}) {
    contests.emplace_back(ranks, model);
    names.push_back(fmt::format("P = {}", ranks));
  }
  out << "time with the best r, divided by the least time of recursive doubling, recursive halving and ring\n";
  print_head(out, "bytes", names);
  for (double const bytes : geometric(32, 64e6)) {
    out << fmt::format("{:>10.0f}", bytes);
    for (contest const& c : contests) out << fmt::format("  {:>13.3f}", c.best(bytes) / c.known(bytes));
    out << '\n';
  }
}

}  // namespace

void print_figure(std::ostream& out, int figure, schedule::cost_model const& model) {
  std::vector<curve> const against_all{estimated, best, usual, halving, doubling, ring};
  switch (figure) {
    case 1:
      return ratios(out, model);
    case 7:
      return over_sizes(out, {estimated, best, usual, halving}, geometric(16, 10e3), model);
    case 8:
      return over_sizes(out, {estimated, best, usual, halving}, geometric(256e3, 64e6), model);
    case 9:
      return over_sizes(out, {estimated, best, halving}, geometric(4e3, 512e3), model);
    case 10:
      return over_sizes(out, {bandwidth, latency, best}, geometric(16, 4e6), model);
    case 11:
      return over_ranks(out, against_all, 425, model);
    case 12:
      return over_ranks(out, against_all, 9e3, model);
    default:
      throw argument_error(fmt::format("figure {} is not among 1, 7, 8, 9, 10, 11 and 12", figure));
  }
}

}  // namespace coset::cli
