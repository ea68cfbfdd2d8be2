// SPDX-License-Identifier: Apache-2.0
#include "command/measure/fits/clusters.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "base/text/format.hpp"
#include "planning/calibration/fit.hpp"

namespace coset::calibration {
namespace {

/// [a][b], logarithms, symmetric; NaN if unknown.
using distances = std::vector<std::vector<double>>;
/// [processor]: the number of its cluster.
using homes = std::vector<std::size_t>;

/// A level is worth a step of its own only if its pairs are 1.5 times as far apart as those inside. If all latencies
/// are equal but off by 20 % either way, they differ by as much (1.2 / 0.8).
double const least_gap = std::log(1.5);
/// The error of the logarithm of one measured latency.
constexpr double noise = 0.2;
/// Standard errors by which medians of few pairs must exceed least_gap.
constexpr double errors = 2;
/// One pair in this many may lie on the wrong side, and one pair in any case.
constexpr std::size_t pairs_per_misfit = 20;
constexpr std::size_t least_evidence = 2;
constexpr std::size_t most_cuts = 8;
constexpr int most_passes = 10;

distances logarithms(std::vector<std::vector<double>> const& latency) {
  std::size_t const n = latency.size();
  double const infinity = std::numeric_limits<double>::infinity();
  distances made(n, std::vector<double>(n, std::nan("")));
  for (std::size_t a = 0; a < n; ++a) {
    if (latency[a].size() != n) {
      throw argument_error(
          text::format("latencies of {} processors: the row of number {} has {}", n, a, latency[a].size()));
    }
  }
  auto const measured = [&](double ns) { return std::isfinite(ns) && ns > 0 ? ns : infinity; };
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      double const faster = std::min(measured(latency[a][b]), measured(latency[b][a]));
      if (faster < infinity) made[a][b] = made[b][a] = std::log(faster);
    }
  }
  return made;
}

template <class Visitor>
void for_each_pair(distances const& of, Visitor visit) {
  for (std::size_t a = 0; a < of.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (!std::isnan(of[a][b])) visit(a, b, of[a][b]);
    }
  }
}

/// The distances of a partition, by kind.
struct kinds {
  kinds(distances const& of, homes const& home) {
    for_each_pair(
        of, [&](std::size_t a, std::size_t b, double d) { (home[a] == home[b] ? within : between).push_back(d); });
    near = median(within);
    far = median(between);
  }

  double loss() const {
    double sum = 0;
    for (double const d : within) sum += std::abs(d - near);
    for (double const d : between) sum += std::abs(d - far);
    return sum;
  }

  bool significant() const {
    auto const count = [](std::size_t pairs) { return static_cast<double>(pairs); };
    if (within.empty() || between.empty()) return false;
    double const chance = errors * noise * std::sqrt(1 / count(within.size()) + 1 / count(between.size()));
    if (far - near < least_gap + chance) return false;
    double const middle = (near + far) / 2;
    auto const right_within =
        static_cast<std::size_t>(std::ranges::count_if(within, [&](double d) { return d < middle; }));
    auto const right_between =
        static_cast<std::size_t>(std::ranges::count_if(between, [&](double d) { return d > middle; }));
    std::size_t const all = within.size() + between.size(), wrong = all - right_within - right_between;
    return right_within >= least_evidence && right_between >= least_evidence &&
           wrong <= std::max<std::size_t>(1, all / pairs_per_misfit);
  }

  std::vector<double> within, between;
  double near, far;
};

/// Growing clusters: the cluster of each processor, and the average distance between clusters.
class linkage {
 public:
  explicit linkage(distances const& of)
      : home_(of.size()), sum_(of), count_(of.size(), std::vector<double>(of.size())) {
    for (std::size_t a = 0; a < of.size(); ++a) {
      home_[a] = a;
      for (std::size_t b = 0; b < of.size(); ++b) {
        bool const known = !std::isnan(of[a][b]);
        count_[a][b] = known ? 1 : 0;
        if (!known) sum_[a][b] = 0;
      }
      alive_.push_back(a);
    }
  }

  /// Joins the two nearest clusters and returns their distance; empty if no distance between clusters is known.
  std::optional<double> join() {
    double least = std::numeric_limits<double>::infinity();
    std::size_t into = 0, from = 0;
    for (std::size_t const a : alive_) {
      for (std::size_t const b : alive_) {
        if (b >= a) break;
        if (count_[a][b] > 0 && sum_[a][b] / count_[a][b] < least) {
          least = sum_[a][b] / count_[a][b];
          into = b;
          from = a;
        }
      }
    }
    if (into == from) return std::nullopt;
    for (std::size_t const c : alive_) {
      if (c == into || c == from) continue;
      sum_[into][c] = sum_[c][into] = sum_[into][c] + sum_[from][c];
      count_[into][c] = count_[c][into] = count_[into][c] + count_[from][c];
    }
    std::erase(alive_, from);
    std::ranges::replace(home_, from, into);
    return least;
  }

  homes const& home() const noexcept { return home_; }

 private:
  homes home_;
  distances sum_, count_;
  std::vector<std::size_t> alive_;
};

/// The partitions just before the greatest jumps in height.
std::vector<homes> cuts(distances const& of) {
  struct cut {
    double jump;
    homes home;
  };
  std::vector<cut> found;
  linkage tree(of);
  auto height = tree.join();
  while (height) {
    homes const home = tree.home();
    auto const next = tree.join();
    if (!next) break;
    found.push_back({*next - *height, home});
    std::ranges::stable_sort(found, std::greater(), &cut::jump);
    if (found.size() > most_cuts) found.pop_back();
    height = next;
  }
  std::vector<homes> partitions;
  for (cut& c : found) partitions.push_back(std::move(c.home));
  return partitions;
}

/// Moves processors to the cluster that they fit best, or to one of their own, as long as any fits better there.
void settle(distances const& of, homes& home) {
  std::size_t const n = of.size();
  std::vector<std::size_t> members(n + 1, 0);  // one number more than processors: one is always free
  for (std::size_t const c : home) ++members[c];
  bool moved = true;
  for (int pass = 0; moved && pass < most_passes; ++pass) {
    kinds const now(of, home);
    moved = false;
    if (!(now.near < now.far)) return;
    for (std::size_t a = 0; a < n; ++a) {
      std::vector<double> loss(n + 1, 0);  // of being in that cluster instead of outside
      std::vector<bool> known(n + 1, false);
      for (std::size_t b = 0; b < n; ++b) {
        if (b == a || std::isnan(of[a][b])) continue;
        loss[home[b]] += std::abs(of[a][b] - now.near) - std::abs(of[a][b] - now.far);
        known[home[b]] = true;
      }
      std::size_t best = home[a];
      for (std::size_t c = 0; c <= n; ++c) {
        if ((known[c] || members[c] == 0) && loss[c] < loss[best] - 1e-9) best = c;
      }
      if (best == home[a]) continue;
      --members[home[a]];
      ++members[best];
      home[a] = best;
      moved = true;
    }
  }
}

std::optional<homes> partition_of(distances const& of) {
  std::optional<homes> best;
  double least = 0;
  for (homes& home : cuts(of)) {
    settle(of, home);
    kinds const found(of, home);
    if (!found.significant() || (best && found.loss() >= least)) continue;
    least = found.loss();
    best = std::move(home);
  }
  return best;
}

clustering members_of(homes const& home) {
  clustering made;
  std::vector<std::size_t> place(home.size() + 1, home.size());
  for (std::size_t a = 0; a < home.size(); ++a) {
    std::size_t& at = place[home[a]];
    if (at == home.size()) {
      at = made.size();
      made.emplace_back();
    }
    made[at].push_back(static_cast<rank_t>(a));
  }
  return made;
}

distances inside(distances of, homes const& home) {
  for_each_pair(distances(of), [&](std::size_t a, std::size_t b, double) {
    if (home[a] != home[b]) of[a][b] = of[b][a] = std::nan("");
  });
  return of;
}

distances between(distances const& of, clustering const& clusters) {
  distances made(clusters.size(), std::vector<double>(clusters.size(), std::nan("")));
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      std::vector<double> block;
      for (rank_t const a : clusters[i]) {
        for (rank_t const b : clusters[j]) {
          if (!std::isnan(of[a][b])) block.push_back(of[a][b]);
        }
      }
      made[i][j] = made[j][i] = median(std::move(block));
    }
  }
  return made;
}

/// Turns a clustering of clusters into a clustering of their members.
clustering flattened(clustering const& outer, clustering const& inner) {
  clustering made;
  for (auto const& group : outer) {
    auto& all = made.emplace_back();
    for (rank_t const c : group) all.insert(all.end(), inner[c].begin(), inner[c].end());
    std::ranges::sort(all);
  }
  return made;
}

std::vector<clustering> nested(distances const& of) {
  auto const home = partition_of(of);
  if (!home) return {};
  clustering const clusters = members_of(*home);
  std::vector<clustering> levels = nested(inside(of, *home));
  levels.push_back(clusters);
  for (clustering const& outer : nested(between(of, clusters))) levels.push_back(flattened(outer, clusters));
  return levels;
}

}  // namespace

std::vector<clustering> clusters_of(std::vector<std::vector<double>> const& latency) {
  return nested(logarithms(latency));
}

}  // namespace coset::calibration
