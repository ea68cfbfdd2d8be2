// SPDX-License-Identifier: Apache-2.0
// k-means with restarts, three times: serially, with coset, and the usual OpenMP way. Each of the many short passes over
// the points ends in a reduction of all centres' sums, which is where the ways differ. Coordinates are whole numbers, so
// that sums are exact in any order and all three have to agree to the last bit.
#include <omp.h>

#include <chrono>
#include <coset/coset.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace {

constexpr std::size_t dimensions = 4, centres = 24, points = 6000, passes = 40;
constexpr std::size_t stride = dimensions + 1;  // a centre's sums, then its number of points

using sums = std::vector<double>;
using coordinates = std::vector<double>;

coordinates make_points() {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> somewhere(0, 1000), nearby(-60, 60);
  coordinates blobs(centres * dimensions), all(points * dimensions);
  for (double& b : blobs) b = somewhere(random);
  for (std::size_t p = 0; p < points; ++p) {
    for (std::size_t d = 0; d < dimensions; ++d)
      all[p * dimensions + d] = blobs[p % centres * dimensions + d] + nearby(random);
  }
  return all;
}

/// Adds one point to the sums of the centre that it is nearest to.
void assign(double const* point, coordinates const& at, double* total) {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::max();
  for (std::size_t c = 0; c < centres; ++c) {
    double distance = 0;
    for (std::size_t d = 0; d < dimensions; ++d) {
      double const apart = point[d] - at[c * dimensions + d];
      distance += apart * apart;
    }
    if (distance < least) {
      least = distance;
      best = c;
    }
  }
  for (std::size_t d = 0; d < dimensions; ++d) total[best * stride + d] += point[d];
  total[best * stride + dimensions] += 1;
}

void move_centres(coordinates& at, double const* total) {
  for (std::size_t c = 0; c < centres; ++c) {
    double const members = total[c * stride + dimensions];
    if (members == 0) continue;
    for (std::size_t d = 0; d < dimensions; ++d) at[c * dimensions + d] = total[c * stride + d] / members;
  }
}

/// Restart r begins with other points as centres.
coordinates first_centres(coordinates const& all, std::size_t restart) {
  coordinates at;
  for (std::size_t c = 0; c < centres; ++c) {
    auto const from = all.begin() + static_cast<std::ptrdiff_t>((restart * 97 + c * 211) % points * dimensions);
    at.insert(at.end(), from, from + dimensions);
  }
  return at;
}

/// The centres that all restarts end with, one after the other.
using answer = std::vector<coordinates>;

answer serial(coordinates const& all, std::size_t restarts) {
  answer found;
  for (std::size_t r = 0; r < restarts; ++r) {
    auto at = first_centres(all, r);
    for (std::size_t pass = 0; pass < passes; ++pass) {
      sums total(centres * stride);
      for (std::size_t p = 0; p < points; ++p) assign(&all[p * dimensions], at, total.data());
      move_centres(at, total.data());
    }
    found.push_back(at);
  }
  return found;
}

answer with_coset(coset::team& team, coordinates const& all, std::size_t restarts) {
  answer found(restarts);
  team.run([&](coset::member& me) {
    std::size_t const begin = points * me.rank() / me.size(), end = points * (me.rank() + 1) / me.size();
    for (std::size_t r = 0; r < restarts; ++r) {
      auto at = first_centres(all, r);
      for (std::size_t pass = 0; pass < passes; ++pass) {
        sums total(centres * stride);
        for (std::size_t p = begin; p < end; ++p) assign(&all[p * dimensions], at, total.data());
        coset::allreduce(me, total);
        move_centres(at, total.data());
      }
      if (me.rank() == 0) found[r] = at;
    }
  });
  return found;
}

answer with_openmp(coset::rank_t threads, coordinates const& all, std::size_t restarts) {
  answer found;
  for (std::size_t r = 0; r < restarts; ++r) {
    auto at = first_centres(all, r);
    for (std::size_t pass = 0; pass < passes; ++pass) {
      sums sum(centres * stride);
      double* const total = sum.data();
#pragma omp parallel for num_threads(threads) reduction(+ : total[:centres * stride])
      for (std::size_t p = 0; p < points; ++p) assign(&all[p * dimensions], at, total);
      move_centres(at, total);
    }
    found.push_back(at);
  }
  return found;
}

answer timed(char const* what, std::function<answer()> const& run) {
  auto const begin = std::chrono::steady_clock::now();
  auto found = run();
  std::chrono::duration<double, std::milli> const spent = std::chrono::steady_clock::now() - begin;
  std::printf("  %-26s %8.1f ms %8.1f us per pass\n", what, spent.count(),
              spent.count() * 1000 / static_cast<double>(passes * found.size()));
  return found;
}

}  // namespace

/// kmeans [RESTARTS]
int main(int argc, char** argv) {
  std::size_t const restarts = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 30;
  auto const all = make_points();
  coset::team team;
  std::printf(
      "k-means on %u threads: %zu points in %zu dimensions, %zu restarts of %zu passes, %zu sums reduced in each\n",
      team.size(), points, dimensions, restarts, passes, centres * stride);
  auto const expected = timed("serial", [&] { return serial(all, restarts); });
  auto const ours = timed("coset::allreduce", [&] { return with_coset(team, all, restarts); });
  auto const openmp = timed("OpenMP reduction(+:a[:n])", [&] { return with_openmp(team.size(), all, restarts); });
  bool const right = ours == expected && openmp == expected;
  std::puts(right ? "  the same centres in all three, to the last bit" : "  the centres DIFFER");
  return right ? 0 : 1;
}
