// SPDX-License-Identifier: Apache-2.0
#include "tuning/calibration/fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "numa/binding.hpp"
#include "text/format.hpp"
#include "tuning/calibration/clusters.hpp"
#include "tuning/choice/settings.hpp"

namespace coset::tuning {
namespace {

constexpr std::size_t most_pairs = 16;
constexpr int most_asks = 3;

struct expectation {
  rank_t a, b;
  bool near;
  double limit;  ///< half-way, on the scale of ratios, between what was measured within and between
};

bool together(clustering const& clusters, rank_t a, rank_t b) {
  return std::ranges::any_of(clusters, [&](std::vector<rank_t> const& cluster) {
    return std::ranges::binary_search(cluster, a) && std::ranges::binary_search(cluster, b);
  });
}

/// Of one level: `inner` is the next finer one and `outer` the next coarser; nothing where there is none.
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

void log(std::string const& what) {
  if (plans_are_logged()) text::complain(what);
}

/// True if the team's processors are the profile's, in its order.
bool brought_into_order(std::vector<processor>& places, bool in_any_order, std::vector<unsigned> const& wanted) {
  std::vector<processor> ordered;
  for (unsigned const os_index : wanted) {
    auto const at = std::ranges::find(places, os_index, &processor::os_index);
    if (at != places.end()) ordered.push_back(*at);
  }
  if (ordered.size() != wanted.size() || ordered.size() != places.size()) return false;
  if (!in_any_order && !std::ranges::equal(ordered, places, {}, &processor::os_index, &processor::os_index))
    return false;
  places = std::move(ordered);
  return true;
}

}  // namespace

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

table choices_on(std::vector<processor>& places, bool in_any_order, profile const& found, unsigned usable,
                 prober const& probe) {
  table made = table::of_environment();
  std::vector<processor> ordered = places;
  if (!found.hidden.levels.empty() && places.size() <= usable &&
      brought_into_order(ordered, in_any_order, found.processors)) {
    fit const now = look_again(found, probe);
    log(text::format("the clusters of {} are {}: {}", found.date,
                     now.holds ? "there, plans along them in force" : "gone, flat plans in force", now.because));
    if (now.holds) {
      places = std::move(ordered);
      mark(places, found.hidden.levels);
      for (rule const& r : found.hidden.rules) made.append(r);
    }
  }
  for (rule const& r : found.rules) made.append(r);
  return made;
}

table choices_here(std::vector<processor>& places, bool in_any_order) {
  auto const found = find_profile(machine_tuned_for());
  if (!found) return table::of_environment();
  unsigned const usable = found->hidden.levels.empty() ? 0 : numa::usable_processors();
  return choices_on(places, in_any_order, *found, usable, ping_pong());
}

}  // namespace coset::tuning
