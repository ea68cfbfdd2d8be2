// SPDX-License-Identifier: Apache-2.0
// Printing the tree ring as C.
#include "lab/generate/generate_c.hpp"

#include "base/text/format.hpp"

namespace coset::schedule {
namespace {

constexpr char const* head =
    R"(/* Allreduce along a ring in depth-first order of one tree of switches: in every round at most one message
   crosses an edge in each direction. After Patarasuk and Yuan, "Bandwidth efficient all-reduce operation on tree
   topologies". Generated; link with MPI. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

)";

constexpr char const* body_of_ring = R"(
static int position_of(int rank) {
  int position = 0;
  while (ring[position] != rank) ++position;
  return position;
}

/* Segment i of n items: the first item, of one past the last segment too. */
static int begin_of(int i, int n) { return (int)((long long)n * i / RANKS); }

int tree_ring_allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int ranks, rank, position, next, previous, round, status = MPI_SUCCESS;
  MPI_Aint lower, extent, true_lower, true_extent;
  char *data = (char *)out, *scratch, *received;

  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &rank);
  if (ranks != RANKS) return MPI_ERR_COMM; /* the tree has RANKS processes */
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  if (in != MPI_IN_PLACE)
    status = MPI_Sendrecv(in, n, type, 0, 0, out, n, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  scratch = (char *)malloc((size_t)(extent * (n / RANKS + 1) + true_extent));
  if (scratch == NULL) return MPI_ERR_NO_MEM;
  received = scratch - true_lower;

  position = position_of(rank);
  next = ring[(position + 1) % RANKS];
  previous = ring[(position + RANKS - 1) % RANKS];
  for (round = 1; round < 2 * RANKS - 1 && status == MPI_SUCCESS; ++round) {
    int reducing = round < RANKS;
    int given = (position + 2 * RANKS - round) % RANKS, taken = (given + RANKS - 1) % RANKS;
    int first = begin_of(taken, n), count = begin_of(taken + 1, n) - first;
    char *target = data + first * extent;
    status = MPI_Sendrecv(data + begin_of(given, n) * extent, begin_of(given + 1, n) - begin_of(given, n), type, next, 0,
                          reducing ? received : target, count, type, previous, 0, comm, MPI_STATUS_IGNORE);
    if (reducing && status == MPI_SUCCESS) status = MPI_Reduce_local(received, target, count, type, op);
  }
  free(scratch);
  return status;
}
)";

}  // namespace

std::string tree_ring_routine(tree const& of) {
  return text::format(
      "{}#define RANKS {}\n\n/* The ranks in depth-first order of the switches. */\nstatic const int ring[RANKS] = "
      "{{{}}};\n{}",
      head, of.ranks, text::joined(ring_order(of), ", "), body_of_ring);
}

}  // namespace coset::schedule
