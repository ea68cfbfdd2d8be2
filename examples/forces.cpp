// SPDX-License-Identifier: Apache-2.0
// Molecular dynamics of a Lennard-Jones liquid. Every pair within reach is looked at once and pushes both its
// particles, as Newton's third law has it; so threads that have different cells of the box push the same particles.
// Each sums forces of its own, and the sums of all threads are reduced before the particles move.
#include <omp.h>

#include <array>
#include <cmath>
#include <coset/coset.hpp>
#include <cstdint>
#include <random>

#include "race.hpp"

namespace {

constexpr double density = 0.8, reach = 2.5, time_step = 0.002;

using triples = std::vector<double>;  // x, y, z of a particle, then of the next

/// Particles by cells of a periodic cube; a cell is as wide as the forces reach at least.
struct cells {
  std::size_t along;
  double width;
  std::vector<std::uint32_t> begin, particle;  // those in cell c: particle[begin[c]] … particle[begin[c + 1]]
  std::size_t count() const { return along * along * along; }
};

double side_of(std::size_t particles) { return std::cbrt(static_cast<double>(particles) / density); }

/// Sorts the particles into cells.
void sort(triples const& at, cells& into) {
  std::size_t const particles = at.size() / 3;
  double const side = side_of(particles);
  into.along = static_cast<std::size_t>(side / reach);
  into.width = side / static_cast<double>(into.along);
  into.begin.assign(into.count() + 1, 0);
  into.particle.resize(particles);
  auto const cell_of = [&](std::size_t p) {
    std::size_t cell = 0;
    for (std::size_t d = 3; d-- > 0;)
      cell = cell * into.along + std::min(static_cast<std::size_t>(at[3 * p + d] / into.width), into.along - 1);
    return cell;
  };
  for (std::size_t p = 0; p < particles; ++p) ++into.begin[cell_of(p) + 1];
  for (std::size_t c = 0; c < into.count(); ++c) into.begin[c + 1] += into.begin[c];
  auto next = into.begin;
  for (std::size_t p = 0; p < particles; ++p) into.particle[next[cell_of(p)]++] = static_cast<std::uint32_t>(p);
}

void push_apart(triples const& at, double side, std::size_t a, std::size_t b, double* force) {
  std::array<double, 3> apart;
  double squared = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    apart[d] = at[3 * a + d] - at[3 * b + d];
    if (apart[d] > side / 2) apart[d] -= side;
    if (apart[d] < -side / 2) apart[d] += side;
    squared += apart[d] * apart[d];
  }
  if (squared >= reach * reach) return;
  double const sixth = 1 / (squared * squared * squared), strength = 24 * sixth * (2 * sixth - 1) / squared;
  for (std::size_t d = 0; d < 3; ++d) {
    force[3 * a + d] += strength * apart[d];
    force[3 * b + d] -= strength * apart[d];
  }
}

/// Adds the forces of all pairs of a particle in this cell and one in it or in the 13 neighbours that come after it.
void push_all(cells const& in, triples const& at, std::size_t cell, double* force) {
  double const side = in.width * static_cast<double>(in.along);
  std::size_t const n = in.along, x = cell % n, y = cell / n % n, z = cell / (n * n);
  for (std::size_t i = in.begin[cell]; i < in.begin[cell + 1]; ++i) {
    for (std::size_t j = i + 1; j < in.begin[cell + 1]; ++j)
      push_apart(at, side, in.particle[i], in.particle[j], force);
  }
  for (std::size_t step = 14; step < 27; ++step) {
    std::size_t const other =
        (x + step % 3 + n - 1) % n + n * ((y + step / 3 % 3 + n - 1) % n) + n * n * ((z + step / 9 + n - 1) % n);
    for (std::size_t i = in.begin[cell]; i < in.begin[cell + 1]; ++i) {
      for (std::size_t j = in.begin[other]; j < in.begin[other + 1]; ++j)
        push_apart(at, side, in.particle[i], in.particle[j], force);
    }
  }
}

struct liquid {
  triples at, speed;
};

/// On a lattice, each a little off, going anywhere.
liquid pour(std::size_t along) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> off(-0.05, 0.05), going(-1, 1);
  double const spacing = side_of(along * along * along) / static_cast<double>(along);
  liquid made;
  for (std::size_t p = 0; p < along * along * along; ++p) {
    for (std::size_t const place : {p % along, p / along % along, p / (along * along)}) {
      made.at.push_back(spacing * (static_cast<double>(place) + 0.5 + off(random)));
      made.speed.push_back(going(random));
    }
  }
  return made;
}

/// Moves coordinates [first, last) by a time step.
void move(liquid& of, double const* force, std::size_t first, std::size_t last) {
  double const side = side_of(of.at.size() / 3);
  for (std::size_t i = first; i < last; ++i) {
    of.speed[i] += time_step * force[i];
    of.at[i] += time_step * of.speed[i];
    of.at[i] -= side * std::floor(of.at[i] / side);
  }
}

triples serial(liquid now, std::size_t steps) {
  cells sorted;
  for (std::size_t step = 0; step < steps; ++step) {
    triples force(now.at.size());
    sort(now.at, sorted);
    for (std::size_t c = 0; c < sorted.count(); ++c) push_all(sorted, now.at, c, force.data());
    move(now, force.data(), 0, force.size());
  }
  return now.at;
}

triples with_coset(coset::team& team, liquid now, std::size_t steps) {
  triples force(now.at.size());
  team.run([&](coset::member& me) {
    auto const share = [&](std::size_t of, coset::rank_t rank) { return of * rank / me.size(); };
    cells sorted;  // everybody sorts: that is little work, and nobody waits for it
    coset::buffer<double> mine(me, force.size());
    for (std::size_t step = 0; step < steps; ++step) {
      sort(now.at, sorted);
      std::ranges::fill(mine, 0.0);
      for (std::size_t c = share(sorted.count(), me.rank()); c < share(sorted.count(), me.rank() + 1); ++c)
        push_all(sorted, now.at, c, mine.data());
      coset::reduce_shared(me, mine, force);
      move(now, force.data(), share(force.size(), me.rank()), share(force.size(), me.rank() + 1));
      coset::barrier(me);  // all have moved
    }
  });
  return now.at;
}

triples with_openmp(coset::rank_t threads, liquid now, std::size_t steps) {
  cells sorted;
  std::size_t const coordinates = now.at.size();
  for (std::size_t step = 0; step < steps; ++step) {
    triples sums(coordinates);
    double* const force = sums.data();
    sort(now.at, sorted);
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : force[:coordinates])
    for (std::size_t c = 0; c < sorted.count(); ++c) push_all(sorted, now.at, c, force);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::size_t i = 0; i < coordinates; ++i) move(now, force, i, i + 1);
  }
  return now.at;
}

/// But for the order of the additions.
bool same(triples const& expected, triples const& got) {
  return std::ranges::equal(expected, got, [](double e, double g) { return std::abs(e - g) < 1e-9; });
}

}  // namespace

int main(int argc, char** argv) {
  auto const sizes =
      example::sizes(argc, argv, "Moves ALONG^3 particles by so many steps of 0.002; ALONG is 7 at least.",
                     {{"ALONG", 16}, {"STEPS", 15}});
  std::size_t const along = std::max<std::size_t>(sizes[0], 7), steps = sizes[1];
  liquid const poured = pour(along);
  coset::team team;
  std::printf("%zu particles, %zu steps, %u threads\n", along * along * along, steps, team.size());
  bool const right = example::race<triples>(
      {{"serial", [&](triples& found) { found = serial(poured, steps); }},
       {"coset::reduce_shared", [&](triples& found) { found = with_coset(team, poured, steps); }},
       {"OpenMP reduction(+:f[:n])", [&](triples& found) { found = with_openmp(team.size(), poured, steps); }}},
      same);
  return right ? 0 : 1;
}
