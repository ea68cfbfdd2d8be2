// SPDX-License-Identifier: Apache-2.0
// Forces of a molecular dynamics code over half neighbour lists: each pair is met once, and adds to both atoms.
#include <random>

#include "bench/programs/loop_program.hpp"

namespace coset::measure {
namespace {

struct force_loop {
  /// Atoms near the points of a cubic lattice, in periodic space; neighbours are the 26 points around, half of them each.
  explicit force_loop(std::size_t edge) : positions(3 * edge * edge * edge), forces(positions.size()) {
    std::mt19937_64 choices(4);
    std::uniform_real_distribution<double> shift(-0.1, 0.1);
    begins.push_back(0);
    for (std::size_t atom = 0; atom < edge * edge * edge; ++atom) {
      std::size_t const at[] = {atom / (edge * edge), atom / edge % edge, atom % edge};
      for (std::size_t d = 0; d < 3; ++d) positions[3 * atom + d] = static_cast<double>(at[d]) + shift(choices);
      for (std::size_t k = 14; k < 27; ++k) {  // the later half of the 27 of -1, 0, 1 in each dimension
        std::size_t const steps[] = {k / 9, k / 3 % 3, k % 3};
        std::size_t other = 0;
        bool inside = true;
        for (std::size_t d = 0; d < 3; ++d) {
          inside = inside && at[d] + steps[d] >= 1 && at[d] + steps[d] <= edge;
          other = other * edge + at[d] + steps[d] - 1;
        }
        if (inside) neighbours.push_back(static_cast<std::uint32_t>(other));
      }
      begins.push_back(neighbours.size());
    }
  }

  std::string name() const {
    return "forces, " + std::to_string(neighbours.size()) + " pairs, " + std::to_string(forces.size());
  }
  std::size_t items() const { return begins.size() - 1; }
  auto targets() { return std::tie(forces); }

  double item(std::size_t i, auto const& force) const {
    double const x = positions[3 * i], y = positions[3 * i + 1], z = positions[3 * i + 2];
    double own[] = {0, 0, 0}, energy = 0;
    for (std::size_t k = begins[i]; k < begins[i + 1]; ++k) {
      std::size_t const j = neighbours[k];
      double const dx = x - positions[3 * j], dy = y - positions[3 * j + 1], dz = z - positions[3 * j + 2];
      double const inverse = 1 / (dx * dx + dy * dy + dz * dz), sixth = inverse * inverse * inverse;
      double const strength = sixth * (2 * sixth - 1) * inverse;  // Lennard-Jones, up to units
      energy += sixth * (sixth - 1);
      own[0] += strength * dx;
      own[1] += strength * dy;
      own[2] += strength * dz;
      force[3 * j] += -strength * dx;
      force[3 * j + 1] += -strength * dy;
      force[3 * j + 2] += -strength * dz;
    }
    for (std::size_t d = 0; d < 3; ++d) force[3 * i + d] += own[d];
    return energy;
  }

  void clause() {
    std::fill(forces.begin(), forces.end(), 0);
    double* const force = forces.data();
    std::size_t const components = forces.size();
    double energy = 0;
#pragma omp parallel for reduction(+ : energy, force[:components])
    for (std::size_t i = 0; i < items(); ++i) energy += item(i, force);
    value = energy;
  }

  std::vector<double> positions, forces;
  std::vector<std::size_t> begins;
  std::vector<std::uint32_t> neighbours;
  double value = 0;
};

}  // namespace

program_list make_force_loops() {
  program_list all;
  all.push_back(std::make_unique<loop_program<force_loop>>(force_loop(12)));
  all.push_back(std::make_unique<loop_program<force_loop>>(force_loop(24)));
  return all;
}

}  // namespace coset::measure
