// SPDX-License-Identifier: Apache-2.0
// A program that calls MPI in functions of atexit() and in destructors of static objects, the last of which ends it.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace {

int rank = 0, ranks = 0, right = 0;
MPI_Op joined = MPI_OP_NULL;

/// Does not commute: x ↦ a·x + b, with wrapping numbers.
void join(void* in, void* inout, int* count, MPI_Datatype*) {
  auto const* const first = static_cast<unsigned*>(in);
  auto* const then = static_cast<unsigned*>(inout);
  for (int i = 0; i < *count; i += 2) {
    then[i + 1] += then[i] * first[i + 1];
    then[i] *= first[i];
  }
}

void collectives() {
  MPI_Comm on;
  MPI_Comm_dup(MPI_COMM_WORLD, &on);
  for (int turn = 0; turn < 3; ++turn) {
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, on);
    right += sum == ranks * (ranks - 1) / 2 ? 1 : 0;
    MPI_Request request;
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_MAX, on, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    right += sum == ranks - 1 ? 1 : 0;
    std::array<unsigned, 2> mine{3, static_cast<unsigned>(rank)}, all{};
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    MPI_Allreduce(mine.data(), all.data(), 2, MPI_UNSIGNED, joined, on);
    MPI_Type_free(&pair);
    unsigned expected = 0, factor = 1;
    for (int r = 0; r < ranks; ++r) {
      expected = expected * 3 + static_cast<unsigned>(r);
      factor *= 3;
    }
    right += all[0] == factor && all[1] == expected ? 1 : 0;
  }
  MPI_Comm_free(&on);
}

struct last {
  ~last() {
    collectives();
    MPI_Op_free(&joined);
    int sum = 0;
    MPI_Reduce(&right, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("answer: %d of %d\n", sum, ranks * 27);
    std::fflush(stdout);
    MPI_Finalize();
  }
} const end;

}  // namespace

int main(int argc, char** argv) {
  std::atexit([] { collectives(); });
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Op_create(join, 0, &joined);
  collectives();
  return 0;
}
