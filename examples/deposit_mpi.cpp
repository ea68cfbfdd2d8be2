// SPDX-License-Identifier: Apache-2.0
// Particles leave their charge on a grid that every process has as a whole: threads of all processes add, and every process
// needs the total before its particles move on. with_coset() is one call where with_openmp_and_mpi() has two phases.
//
//     mpirun -n 2 deposit_mpi [POINTS [PARTICLES-PER-PROCESS [STEPS]]]
#include <mpi.h>
#include <omp.h>

#include <algorithm>
#include <coset/coset.hpp>
#include <coset/mpi.hpp>
#include <coset/omp.hpp>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "race.hpp"

namespace {

struct particle {
  std::uint32_t place;  ///< in eighths of a cell, so that sums are exact and both ways have to agree
  std::uint32_t speed;
};

/// A periodic line of cells; a particle's charge goes to the two points around it.
struct line {
  std::size_t points;
  std::vector<particle> particles;

  line(std::size_t count, std::size_t number, int process) : points(count), particles(number) {
    std::mt19937 random(static_cast<unsigned>(process));
    for (particle& p : particles)
      p = {static_cast<std::uint32_t>(random() % (8 * points)), static_cast<std::uint32_t>(random() % 40)};
  }
  template <class Grid>
  void deposit(Grid&& grid, particle const& p) const {
    std::size_t const left = p.place / 8, right = left + 1 == points ? 0 : left + 1;
    grid[left] += (8 - p.place % 8) / 8.0;
    grid[right] += p.place % 8 / 8.0;
  }
  void move(particle& p) const { p.place = static_cast<std::uint32_t>((p.place + p.speed) % (8 * points)); }
};

void with_coset(line& on, coset::omp::reduction<double>& charge) {
  auto const number = static_cast<std::ptrdiff_t>(on.particles.size());
#pragma omp parallel
  {
    auto mine = charge.local();
#pragma omp for nowait
    for (std::ptrdiff_t i = 0; i < number; ++i) on.deposit(mine, on.particles[static_cast<std::size_t>(i)]);
    charge.combine(coset::combining::assign);  // over all threads of all processes
#pragma omp for
    for (std::ptrdiff_t i = 0; i < number; ++i) on.move(on.particles[static_cast<std::size_t>(i)]);
  }
}

void with_openmp_and_mpi(line& on, std::vector<double>& charge) {
  auto const number = static_cast<std::ptrdiff_t>(on.particles.size());
  double* const grid = charge.data();
  std::size_t const points = charge.size();
#pragma omp parallel
  {
#pragma omp for
    for (std::size_t k = 0; k < points; ++k) grid[k] = 0;
#pragma omp for reduction(+ : grid[:points])
    for (std::ptrdiff_t i = 0; i < number; ++i) on.deposit(grid, on.particles[static_cast<std::size_t>(i)]);
#pragma omp master
    MPI_Allreduce(MPI_IN_PLACE, grid, static_cast<int>(points), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#pragma omp barrier
#pragma omp for
    for (std::ptrdiff_t i = 0; i < number; ++i) on.move(on.particles[static_cast<std::size_t>(i)]);
  }
}

/// Seconds of the slowest process.
template <class Steps>
double seconds(Steps const& steps) {
  MPI_Barrier(MPI_COMM_WORLD);
  double const begin = MPI_Wtime();
  steps();
  double took = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return took;
}

int simulate(int process, int processes, std::vector<std::size_t> const& sizes) {
  auto const points = sizes[0], number = sizes[1], steps = sizes[2];
  line first(points, number, process), second = first;
  std::vector<double> by_one_call(points), by_two(points);
  auto threads = coset::team::adopt(static_cast<coset::rank_t>(omp_get_max_threads()));
  coset::mpi::team all(MPI_COMM_WORLD, *threads);
  coset::omp::reduction<double> charge(all, by_one_call);
  std::vector<double> one_call, two;
  bool right = true;
  for (std::size_t step = 0; step < steps; ++step) {
    one_call.push_back(seconds([&] { with_coset(first, charge); }));
    two.push_back(seconds([&] { with_openmp_and_mpi(second, by_two); }));
    double total = 0;
    for (double const each : by_one_call) total += each;
    right &= by_one_call == by_two && total == static_cast<double>(number) * processes;
  }
  std::ranges::sort(one_call);
  std::ranges::sort(two);
  double const coset = one_call[steps / 2], other = two[steps / 2];
  if (process == 0)
    std::printf(
        "%s\n%zu points, %zu particles: coset %.3f ms a step, OpenMP and MPI_Allreduce %.3f ms, %.2f times that\n",
        all.describe().c_str(), points, number * static_cast<std::size_t>(processes), coset * 1e3, other * 1e3,
        other / coset);
  if (!right) std::fprintf(stderr, "process %d: the charge is wrong\n", process);
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  auto const sizes = example::sizes(argc, argv, "Deposits particles of all processes on a grid that each of them has.",
                                    {{"POINTS", 20'000}, {"PARTICLES", 200'000}, {"STEPS", 15}});
  int level = 0, process = 0, processes = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  int const status = simulate(process, processes, sizes);
  MPI_Finalize();
  return status;
}
