// SPDX-License-Identifier: Apache-2.0
// A collective, in any of the forms in which MPI has it.
#pragma once

#include <mpi.h>

#include <array>
#include <string>
#include <vector>

namespace coset::interpose_test {

enum class verb {
  allreduce,
  reduce,
  reduce_scatter,
  reduce_scatter_block,
  allgather,
  allgatherv,
  gather,
  gatherv,
  scatter,
  scatterv,
  alltoall,
  broadcast,
  barrier,
  scan,
  exclusive_scan
};
inline constexpr std::array all_verbs = {
    verb::allreduce, verb::reduce,     verb::reduce_scatter, verb::reduce_scatter_block,
    verb::allgather, verb::allgatherv, verb::gather,         verb::gatherv,
    verb::scatter,   verb::scatterv,   verb::alltoall,       verb::broadcast,
    verb::barrier,   verb::scan,       verb::exclusive_scan};
std::string name_of(verb);
bool combines(verb);

enum class form { blocking, nonblocking, persistent, blocking_long, nonblocking_long, persistent_long };
#if MPI_VERSION >= 4
inline constexpr std::array all_forms = {form::blocking,      form::nonblocking,      form::persistent,
                                         form::blocking_long, form::nonblocking_long, form::persistent_long};
#else
inline constexpr std::array all_forms = {form::blocking, form::nonblocking, form::persistent};
#endif
std::string name_of(form);

/// MPI's arguments. `count` of what a rank sends, or of its piece where all have as much; `counts` and `places` where
/// they differ.
struct call {
  verb what;
  void const* in;
  void* out;
  int count;
  std::vector<int> counts, places;
  MPI_Datatype type;
  MPI_Op by;
  int root;
  MPI_Comm on;
};

int carry_out(call const&, form);
/// Begins it: nonblocking, with counts of the ordinary width.
int begin(call const&, MPI_Request*);
/// Makes a request of it.
int make_persistent(call const&, MPI_Request*);
/// By MPI itself, whatever was put before it.
int carry_out_by_mpi(call const&);

/// Collective: what the ranks of MPI_COMM_WORLD have to say, a line each, on rank 0; by MPI itself.
std::string said_by_all(std::string const&);

}  // namespace coset::interpose_test
