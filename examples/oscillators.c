// SPDX-License-Identifier: Apache-2.0
// In C, over processes: many oscillators, whose energy in each band of frequencies is summed after every step, over all
// OpenMP threads of all processes. No step loses or gains any, or the exit status says so.
#include <coset/coset_mpi.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { bands = 16 };

static double const step_length = 0.01, most_drift = 1e-3;

struct oscillator {
  double place, speed, stiffness;
  int band;
};

/// Different ones in every process.
static void displace(struct oscillator* all, long count, int process) {
  for (long i = 0; i < count; ++i) {
    int const band = (int)((i * 7 + process) % bands);
    all[i] = (struct oscillator){1 + (double)(i % 10) / 10, 0, 1 + (double)band / bands, band};
  }
}

/// One leapfrog step of this thread's share; adds up its energies.
static void move(struct oscillator* all, long count, double* energy) {
  memset(energy, 0, bands * sizeof *energy);
#pragma omp for nowait
  for (long i = 0; i < count; ++i) {
    struct oscillator* const o = &all[i];
    o->speed -= step_length / 2 * o->stiffness * o->place;
    o->place += step_length * o->speed;
    o->speed -= step_length / 2 * o->stiffness * o->place;
    energy[o->band] += (o->speed * o->speed + o->stiffness * o->place * o->place) / 2;
  }
}

/// What every thread of every process does. Gives the largest drift of any band's energy; INFINITY after a failure.
static void simulate(coset_mpi_team* team, coset_plan const* sum, struct oscillator* all, long count, int steps,
                     double* largest_drift) {
  double mine[bands], total[bands], first[bands] = {0}, drift = 0;
  coset_member* me = NULL;
  coset_status status = coset_mpi_team_join(team, (uint32_t)omp_get_thread_num(), &me);
  for (int s = 0; s < steps; ++s) {
    move(all, count, mine);
    if (status == COSET_SUCCESS) status = coset_plan_execute(sum, me, mine, total);
    if (s == 0) memcpy(first, total, sizeof total);
    for (int b = 0; b < bands && status == COSET_SUCCESS; ++b)
      drift = fmax(drift, fabs(total[b] - first[b]) / fmax(first[b], 1));
  }
  if (status == COSET_SUCCESS && coset_member_rank(me) == 0)
    printf("%u threads of %d processes; largest drift of a band's energy in %d steps: %.1e\n", coset_member_size(me),
           coset_mpi_team_processes(team), steps, drift);
  if (status != COSET_SUCCESS) fprintf(stderr, "%s: %s\n", coset_status_name(status), coset_error_message());
#pragma omp critical
  *largest_drift = fmax(*largest_drift, status == COSET_SUCCESS ? drift : INFINITY);
  coset_team_leave(me);
}

static int run(long count, int steps) {
  int process = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  struct oscillator* const all = malloc((size_t)count * sizeof *all);
  coset_team* threads = NULL;
  coset_mpi_team* team = NULL;
  coset_plan* sum = NULL;
  coset_status status = all == NULL ? COSET_OUT_OF_MEMORY : COSET_SUCCESS;
  if (status == COSET_SUCCESS) status = coset_team_adopt((uint32_t)omp_get_max_threads(), NULL, &threads);
  if (status == COSET_SUCCESS) status = coset_mpi_team_create(MPI_COMM_WORLD, threads, NULL, &team);
  if (status == COSET_SUCCESS)
    status = coset_mpi_plan_create(team, COSET_VERB_ALLREDUCE, bands, COSET_FLOAT64, COSET_PLUS, NULL, &sum);
  double drift = 0;
  if (status == COSET_SUCCESS) {
    displace(all, count, process);
#pragma omp parallel
    simulate(team, sum, all, count, steps, &drift);
  } else {
    fprintf(stderr, "%s: %s\n", coset_status_name(status), coset_error_message());
  }
  coset_plan_free(sum);
  coset_mpi_team_free(team);
  coset_team_free(threads);
  free(all);
  return status != COSET_SUCCESS || drift > most_drift;
}

int main(int argc, char** argv) {
  long const count = argc > 1 ? atol(argv[1]) : 20000;
  int const steps = argc > 2 ? atoi(argv[2]) : 1000;
  if (argc > 3 || count <= 0 || steps <= 0) {
    fprintf(stderr, "usage: %s [OSCILLATORS-PER-PROCESS=20000] [STEPS=1000]\n", argv[0]);
    return 2;
  }
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int const wrong = run(count, steps);
  MPI_Finalize();
  return wrong;
}
