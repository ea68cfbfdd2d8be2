// SPDX-License-Identifier: Apache-2.0
// Particles in a box leave their charge and current on the grid around them, each on the eight corners of its cell: two
// arrays at one index. The same bits for any number of threads, which a restart on another machine may want.
#include <omp.h>

#include <array>
#include <coset/omp.hpp>
#include <cstdint>
#include <random>
#include <utility>

#include "../race.hpp"

namespace {

struct particle {
  std::array<float, 3> at;  ///< in cells
  float charge, speed;
};

struct box {
  std::size_t side;  ///< in cells; the grid is periodic
  std::vector<particle> particles;

  /// Corner 0 … 7 of the particle's cell, and the part of it that goes there.
  std::size_t point(particle const& p, std::size_t corner) const {
    std::size_t found = 0;
    for (unsigned d = 0; d < 3; ++d) {
      auto const cell = static_cast<std::size_t>(p.at[d]) + (corner >> d & 1);
      found = found * side + (cell == side ? 0 : cell);
    }
    return found;
  }
  static float weight(particle const& p, std::size_t corner) {
    float product = 1;
    for (unsigned d = 0; d < 3; ++d) {
      float const within = p.at[d] - static_cast<float>(static_cast<std::size_t>(p.at[d]));
      product *= (corner >> d & 1) != 0 ? within : 1 - within;
    }
    return product;
  }
};

box filled(std::size_t side, std::size_t particles) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> anywhere(0, std::nextafter(static_cast<float>(side), 0.0f));
  std::normal_distribution<float> normal;
  box b{side, {}};
  while (b.particles.size() < particles)
    b.particles.push_back(
        {{anywhere(random), anywhere(random), anywhere(random)}, random() % 2 != 0 ? 1.0f : -1.0f, normal(random)});
  return b;
}

struct grids {
  std::vector<double> charge, current;
  friend bool operator==(grids const&, grids const&) = default;
  void clear(box const& b) {
    charge.assign(b.side * b.side * b.side, 0);
    current.assign(b.side * b.side * b.side, 0);
  }
};

void serial(box const& b, grids& into) {
  into.clear(b);
  for (particle const& p : b.particles)
    for (std::size_t corner = 0; corner < 8; ++corner) {
      float const part = p.charge * box::weight(p, corner);
      into.charge[b.point(p, corner)] += part;
      into.current[b.point(p, corner)] += part * p.speed;
    }
}

/// Iteration i is corner i % 8 of particle i / 8.
void with_coset(box const& b, grids& into) {
  into.clear(b);
  auto const point = [&](std::size_t i) { return b.point(b.particles[i / 8], i % 8); };
  auto const parts = [&](std::size_t i) {
    particle const& p = b.particles[i / 8];
    float const part = p.charge * box::weight(p, i % 8);
    return std::pair(part, part * p.speed);
  };
  coset::omp::scatter_add(std::tie(into.charge, into.current), 8 * b.particles.size(), point, parts, coset::plus{},
                          {.required = coset::bits::serial});
}

void with_copies(box const& b, grids& into) {
  into.clear(b);
  coset::omp::reduction sums(into.charge, into.current);
#pragma omp parallel
  {
    auto mine = sums.local();
    auto const charge = std::get<0>(mine), current = std::get<1>(mine);
#pragma omp for schedule(static) nowait
    for (std::size_t k = 0; k < b.particles.size(); ++k)
      for (std::size_t corner = 0; corner < 8; ++corner) {
        particle const& p = b.particles[k];
        float const part = p.charge * box::weight(p, corner);
        charge[b.point(p, corner)] += part;
        current[b.point(p, corner)] += part * p.speed;
      }
    sums.combine();
  }
}

bool nearly(grids const& expected, grids const& got) {
  auto const close = [](double e, double g) { return std::abs(e - g) <= 1e-9; };
  return std::ranges::equal(expected.charge, got.charge, close) &&
         std::ranges::equal(expected.current, got.current, close);
}

}  // namespace

int main(int argc, char** argv) {
  auto const sizes = example::sizes(argc, argv, "Deposits PARTICLES particles on a grid of SIDE cells a side.",
                                    {{"SIDE", 160}, {"PARTICLES", 300000}});
  box const b = filled(sizes[0], sizes[1]);
  std::printf("%zu particles, %zu^3 cells, %d threads\n", sizes[1], sizes[0], omp_get_max_threads());
  grids expected, got;
  serial(b, expected);
  with_coset(b, got);
  std::printf("coset's bits are %s\n", expected == got ? "the serial loop's" : "OTHERS");
  bool const right = example::race<grids>({{"serial", [&](grids& g) { serial(b, g); }},
                                           {"coset::omp::scatter_add", [&](grids& g) { with_coset(b, g); }},
                                           {"coset::omp::reduction", [&](grids& g) { with_copies(b, g); }}},
                                          nearly);
  return right && expected == got ? 0 : 1;
}
