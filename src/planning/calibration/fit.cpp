// SPDX-License-Identifier: Apache-2.0
#include "planning/calibration/fit.hpp"

#include <algorithm>
#include <cmath>

#include "base/text/format.hpp"

namespace coset::calibration {
namespace {

constexpr std::size_t most_pairs = 16;
constexpr int most_asks = 3;

struct expectation {
  rank_t a, b;
  bool near;
  double limit;  ///< half-way, on a logarithmic scale, between the latencies measured within and between
};

bool together(clustering const& clusters, rank_t a, rank_t b) {
  return std::ranges::any_of(clusters, [&](std::vector<rank_t> const& cluster) {
    return std::ranges::binary_search(cluster, a) && std::ranges::binary_search(cluster, b);
  });
}

/// Adds one level's expectations: `inner` is the next finer level, `outer` the next coarser; null if there is none.
void expect(std::vector<expectation>& made, profile const& of, clustering const* inner, clustering const& clusters,
            clustering const* outer) {
  std::vector<double> within, between;
  for (rank_t a = 0; a < of.latency.size(); ++a) {
    for (rank_t b = 0; b < a; ++b) {
      if (together(clusters, a, b)) {
        if (inner == nullptr || !together(*inner, a, b)) within.push_back(of.latency[a][b]);
      } else if (outer == nullptr || together(*outer, a, b)) {
        between.push_back(of.latency[a][b]);
      }
    }
  }
  double const limit = std::sqrt(median(within) * median(between));
  if (!std::isfinite(limit)) return;
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    // The first and the last rank of a cluster are in different clusters of the level below.
    rank_t const first = clusters[c].front(), last = clusters[c].back();
    rank_t const next = clusters[(c + 1) % clusters.size()].back();
    if (first != last) made.push_back({first, last, true, limit});
    if (outer == nullptr || together(*outer, first, next)) made.push_back({first, next, false, limit});
  }
}

std::vector<expectation> expectations_of(profile const& of) {
  std::size_t const ranks = of.processors.size();
  bool const square = of.latency.size() == ranks &&
                      std::ranges::all_of(of.latency, [&](auto const& row) { return row.size() == ranks; });
  std::vector<expectation> made;
  if (!square) return made;
  auto const& levels = of.hidden.levels;
  for (std::size_t l = 0; l < levels.size(); ++l)
    expect(made, of, l > 0 ? &levels[l - 1] : nullptr, levels[l], l + 1 < levels.size() ? &levels[l + 1] : nullptr);
  std::size_t const step = made.size() / most_pairs + 1;
  std::vector<expectation> some;
  for (std::size_t i = 0; i < made.size(); i += step) some.push_back(made[i]);
  return some;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 == 1 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2;
}

fit look_again(profile const& of, prober const& probe) {
  auto const expected = expectations_of(of);
  if (expected.empty()) return {false, "the profile has no latencies to compare with"};
  std::vector<std::string> seen;
  for (expectation const& e : expected) {
    unsigned const a = of.processors[e.a], b = of.processors[e.b];
    bool fits = false;
    for (int ask = 0; !fits && ask < most_asks; ++ask) {
      auto const found = probe(a, b);
      if (!found) return {false, text::format("{}-{} could not be measured in time", a, b)};
      fits = e.near ? *found < e.limit : *found > e.limit;
      if (fits) seen.push_back(text::format("{}-{} {:.0f} ns", a, b, *found));
      if (!fits && ask + 1 == most_asks)
        return {false, text::format("{}-{} takes {:.0f} ns, not {} than {:.0f}", a, b, *found, e.near ? "less" : "more",
                                    e.limit)};
    }
  }
  return {true, text::joined(seen, ", ")};
}

}  // namespace coset::calibration
