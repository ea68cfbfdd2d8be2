// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients for Poisson's equation on a cube, over all OpenMP threads of all processes: each owns a slab of
// planes, neighbours exchange planes, and each iteration needs one reduction of two sums. with_coset() and with_openmp()
// differ in how they reduce.
#include <omp.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cmath>
#include <coset/mpi.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "coset/coset.hpp"

namespace {

/// Chronopoulos and Gear's form of the method: both dot products of an iteration are of vectors that are there at the
/// same time, so that one allreduce of {r·r, r·Ar} serves.
using sums = std::array<double, 2>;

/// An n³ grid of unit spacing, zero around it, of which this owns planes [begin, end).
class slab {
 public:
  slab(std::size_t n, std::size_t begin, std::size_t end)
      : n_(n), plane_(n * n), planes_(end - begin), x_(size()), r_(size()), p_(size()), s_(size()), q_(size()) {
    // The right side: something that is not smooth and does not depend on who owns it.
    for (std::size_t i = 0; i < planes_ * plane_; ++i) r_[plane_ + i] = std::sin(double((begin * plane_ + i) % 977));
  }

  std::size_t planes() const { return planes_; }
  /// Planes of the residual: own ones are 1 … planes(); 0 and planes() + 1 are the neighbours'.
  double* plane(std::size_t k) { return &r_[k * plane_]; }
  std::size_t plane_size() const { return plane_; }

  /// q = A r, and this slab's part of {r·r, r·q}.
  sums apply() {
    sums dots{};
    for (std::size_t k = 1; k <= planes_; ++k)
      for (std::size_t j = 0; j < n_; ++j)
        for (std::size_t i = 0; i < n_; ++i) {
          std::size_t const at = (k * n_ + j) * n_ + i;
          double const around = (i > 0 ? r_[at - 1] : 0) + (i + 1 < n_ ? r_[at + 1] : 0) + (j > 0 ? r_[at - n_] : 0) +
                                (j + 1 < n_ ? r_[at + n_] : 0) + r_[at - plane_] + r_[at + plane_];
          q_[at] = 6 * r_[at] - around;
          dots[0] += r_[at] * r_[at];
          dots[1] += r_[at] * q_[at];
        }
    return dots;
  }

  /// p = r + βp, s = q + βs (= Ap), x += αp, r −= αs.
  void step(double alpha, double beta) {
    for (std::size_t at = plane_; at < (planes_ + 1) * plane_; ++at) {
      p_[at] = r_[at] + beta * p_[at];
      s_[at] = q_[at] + beta * s_[at];
      x_[at] += alpha * p_[at];
      r_[at] -= alpha * s_[at];
    }
  }

 private:
  std::size_t size() const { return (planes_ + 2) * plane_; }

  std::size_t n_, plane_, planes_;
  std::vector<double> x_, r_, p_, s_, q_;
};

/// What an iteration needs of others.
struct surroundings {
  std::function<void()> exchange;    ///< neighbours' planes of the residual
  std::function<sums(sums)> reduce;  ///< over all slabs
};

/// Returns the squared residual after so many iterations.
double solve(slab& mine, int iterations, surroundings const& others) {
  double last_rr = 0, last_alpha = 0;
  for (int k = 0;; ++k) {
    others.exchange();
    auto const [rr, rq] = others.reduce(mine.apply());
    if (k == iterations) return rr;
    double const beta = k == 0 ? 0 : rr / last_rr;
    double const alpha = rr / (rq - (k == 0 ? 0 : beta * rr / last_alpha));
    mine.step(alpha, beta);
    last_rr = rr;
    last_alpha = alpha;
  }
}

/// The slabs of one process's threads, and how they meet: planes between threads are copied, those between processes are
/// sent by the threads at the ends, one after the other through the first thread.
class process {
 public:
  process(MPI_Comm of, std::size_t n, std::size_t first, std::size_t threads, std::size_t all)
      : of_(of), together_(static_cast<std::ptrdiff_t>(threads)) {
    MPI_Comm_rank(of, &rank_);
    MPI_Comm_size(of, &processes_);
    for (std::size_t t = first; t < first + threads; ++t) slabs_.emplace_back(n, n * t / all, n * (t + 1) / all);
  }

  slab& of_thread(std::size_t t) { return slabs_[t]; }

  /// Thread t's share of the exchange of planes. The same barriers whoever reduces, so that only reductions differ.
  void meet(std::size_t t) {
    together_.arrive_and_wait();  // all have made their step
    if (t > 0) copy(slabs_[t - 1].plane(slabs_[t - 1].planes()), slabs_[t].plane(0));
    if (t + 1 < slabs_.size()) copy(slabs_[t + 1].plane(1), slabs_[t].plane(slabs_[t].planes() + 1));
    if (t == 0) exchange();
    together_.arrive_and_wait();
  }

 private:
  /// Planes at both ends of the process, by the thread that may call MPI.
  void exchange() {
    slab &low = slabs_.front(), &high = slabs_.back();
    int const below = rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL, above = rank_ + 1 < processes_ ? rank_ + 1 : MPI_PROC_NULL;
    int const count = static_cast<int>(low.plane_size());
    MPI_Sendrecv(low.plane(1), count, MPI_DOUBLE, below, 0, high.plane(high.planes() + 1), count, MPI_DOUBLE, above, 0,
                 of_, MPI_STATUS_IGNORE);
    MPI_Sendrecv(high.plane(high.planes()), count, MPI_DOUBLE, above, 1, low.plane(0), count, MPI_DOUBLE, below, 1, of_,
                 MPI_STATUS_IGNORE);
  }

  void copy(double const* from, double* to) { std::copy(from, from + slabs_.front().plane_size(), to); }

  MPI_Comm of_;
  int rank_ = 0, processes_ = 1;
  std::vector<slab> slabs_;
  std::barrier<> together_;
};

struct problem {
  std::size_t n;
  int iterations;
  std::size_t first, threads, all;  ///< slabs: this process's, and in total
};

double serial(problem const& p) {
  slab whole(p.n, 0, p.n);
  return solve(whole, p.iterations, {[] {}, [](sums mine) { return mine; }});
}

double with_coset(coset::mpi::team& all, problem const& p) {
  process here(MPI_COMM_WORLD, p.n, p.first, p.threads, p.all);
  double found = 0;
#pragma omp parallel num_threads(static_cast <int>(p.threads))
  {
    auto const t = static_cast<std::size_t>(omp_get_thread_num());
    auto me = all.join(static_cast<coset::rank_t>(t));
    surroundings const others{[&] { here.meet(t); },
                              [&](sums mine) {
                                coset::allreduce(*me, mine);
                                return mine;
                              }};
    double const mine = solve(here.of_thread(t), p.iterations, others);
    if (t == 0) found = mine;
  }
  return found;
}

double with_openmp(problem const& p) {
  process here(MPI_COMM_WORLD, p.n, p.first, p.threads, p.all);
  double found = 0;
  sums total{};
  std::vector<sums> parts(p.threads);
#pragma omp parallel num_threads(static_cast <int>(p.threads))
  {
    auto const t = static_cast<std::size_t>(omp_get_thread_num());
    surroundings const others{[&] { here.meet(t); },
                              [&](sums mine) {
                                parts[t] = mine;
#pragma omp barrier
                                if (t == 0) {
                                  total = {};
                                  for (auto const& part : parts) total = {total[0] + part[0], total[1] + part[1]};
                                  MPI_Allreduce(MPI_IN_PLACE, total.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
                                }
#pragma omp barrier
                                return total;
                              }};
    double const mine = solve(here.of_thread(t), p.iterations, others);
    if (t == 0) found = mine;
  }
  return found;
}

/// The fastest of some turns: the first one finds cold memory, and makes plans.
double timed(char const* what, int process, int iterations, std::function<double()> const& run) {
  constexpr int turns = 5;
  double found = 0, fastest = 0;
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    double const begin = MPI_Wtime();
    found = run();
    double const spent = MPI_Wtime() - begin;
    fastest = turn == 0 ? spent : std::min(fastest, spent);
  }
  if (process == 0)
    std::printf("  %-34s %9.1f ms %8.1f us per iteration, |r|^2 = %.12g\n", what, fastest * 1e3,
                fastest * 1e6 / iterations, found);
  return found;
}

}  // namespace

/// mpirun … conjugate_gradient [POINTS-PER-SIDE [THREADS-PER-PROCESS]]
int main(int argc, char** argv) {
  int given = 0, rank = 0, processes = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  bool right = false;
  {
    std::size_t const n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 96;
    auto const wanted = static_cast<coset::rank_t>(argc > 2 ? std::atoi(argv[2]) : omp_get_max_threads());
    auto const threads = coset::team::adopt(wanted);  // OpenMP's, wherever they run
    coset::mpi::team all(MPI_COMM_WORLD, *threads);
    problem const p{n, 60, all.first(), all.threads(), all.size()};
    if (rank == 0) std::printf("%zu^3 points, %d iterations; %s\n", n, p.iterations, all.describe().c_str());
    double const expected = timed("serial, on every process", rank, p.iterations, [&] { return serial(p); });
    double const ours =
        timed("coset::mpi::team, one allreduce", rank, p.iterations, [&] { return with_coset(all, p); });
    double const openmp = timed("OpenMP, master's MPI_Allreduce", rank, p.iterations, [&] { return with_openmp(p); });
    auto const near = [&](double found) { return std::abs(found - expected) <= 1e-6 * std::abs(expected); };
    right = near(ours) && near(openmp);
    if (!right) std::printf("  process %d: the residuals DIFFER\n", rank);
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
