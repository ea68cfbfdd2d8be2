// SPDX-License-Identifier: Apache-2.0
// Particles in cells: each adds its charge and current to the four points of the grid around it.
#include <cmath>
#include <random>

#include "bench/programs/loop_program.hpp"

namespace coset::measure {
namespace {

struct particle {
  double x, y, vx, vy;  // in cells
};

struct deposition {
  deposition(std::size_t cells, std::size_t number)
      : width(cells + 1), particles(number), rho(width * width), jx(width * width), jy(width * width) {
    std::mt19937_64 choices(1);
    std::uniform_real_distribution<double> place(0, static_cast<double>(cells)), speed(-1, 1);
    for (auto& p : particles) p = {place(choices), place(choices), speed(choices), speed(choices)};
  }

  std::string name() const {
    return "deposition, " + std::to_string(particles.size()) + " particles, 3 x " + std::to_string(rho.size());
  }
  std::size_t items() const { return particles.size(); }
  auto targets() { return std::tie(rho, jx, jy); }

  template <class Grid>
  double item(std::size_t i, Grid const& charge, Grid const& x_current, Grid const& y_current) const {
    particle const& p = particles[i];
    double const left = std::floor(p.x), top = std::floor(p.y), dx = p.x - left, dy = p.y - top;
    std::size_t const corner = static_cast<std::size_t>(top) * width + static_cast<std::size_t>(left);
    double const weight[] = {(1 - dx) * (1 - dy), dx * (1 - dy), (1 - dx) * dy, dx * dy};
    std::size_t const at[] = {corner, corner + 1, corner + width, corner + width + 1};
    for (int k = 0; k < 4; ++k) {
      charge[at[k]] += weight[k];
      x_current[at[k]] += weight[k] * p.vx;
      y_current[at[k]] += weight[k] * p.vy;
    }
    return p.vx * p.vx + p.vy * p.vy;
  }

  void clause() {
    std::fill(rho.begin(), rho.end(), 0);
    std::fill(jx.begin(), jx.end(), 0);
    std::fill(jy.begin(), jy.end(), 0);
    double *const charge = rho.data(), *const x_current = jx.data(), *const y_current = jy.data();
    std::size_t const points = rho.size();
    double energy = 0;
#pragma omp parallel for reduction(+ : energy, charge[:points], x_current[:points], y_current[:points])
    for (std::size_t i = 0; i < particles.size(); ++i) energy += item(i, charge, x_current, y_current);
    value = energy;
  }

  std::size_t width;
  std::vector<particle> particles;
  std::vector<double> rho, jx, jy;
  double value = 0;
};

}  // namespace

program_list make_depositions() {
  program_list all;
  all.push_back(std::make_unique<loop_program<deposition>>(deposition(31, 100'000)));
  all.push_back(std::make_unique<loop_program<deposition>>(deposition(127, 200'000)));
  return all;
}

}  // namespace coset::measure
