// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/flights/within_mpi.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include "mpi/preload/flights/self.hpp"
#include "mpi/preload/front/front.hpp"

#if defined(OPEN_MPI)

namespace coset::interpose {
namespace {

using registering = int (*)(int (*)());
registering find(char const* name) { return reinterpret_cast<registering>(dlsym(RTLD_DEFAULT, name)); }

/// As Open MPI's own nonblocking collectives do.
brought_on begin_here(int (*look)()) {
  auto const add = find("opal_progress_register");
  return add != nullptr && add(look) == 0 ? brought_on::everywhere : brought_on::nowhere;
}

}  // namespace

void let_mpi_forget(int (*look)()) noexcept {
  if (auto const remove = find("opal_progress_unregister")) remove(look);
}

#else

namespace coset::interpose {
namespace {

/// The worker by which MPICH looks whether a message has come: one that this process sends itself once all looks are done.
void* worker_of_looks() {
  constexpr int enough_looks = 100;
  MPI_Request request = MPI_REQUEST_NULL;
  int const tag = take_tag();
  int is_there = 0;
  coset_preload_of_ucx.latest = nullptr;
  PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, tag, self(), &request);
  for (int i = 0; i < enough_looks && coset_preload_of_ucx.latest == nullptr; ++i)
    PMPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
  PMPI_Send(nullptr, 0, MPI_BYTE, 0, tag, self());
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  give_back_tag(tag);
  return coset_preload_of_ucx.latest;
}

/// MPICH has no place to register at. Over UCX each of its looks is a call of UCX's function, in place of which it gets that of
/// libcoset_preload.so: whether that is so is tried. A wait for a request alone does not return when a message of the process to itself
/// completes it there, as MPICH goes on only after one that has come through UCX: waits poll. Collectives wait for messages
/// of others. At MPI_THREAD_MULTIPLE MPICH holds a lock meanwhile.
brought_on begin_here(int (*look)()) {
  int level = MPI_THREAD_MULTIPLE;
  PMPI_Query_thread(&level);
  void* const worker = worker_of_looks();
  if (worker == nullptr || level == MPI_THREAD_MULTIPLE) return brought_on::nowhere;
  coset_preload_of_ucx.look = look;
  coset_preload_of_ucx.watched = worker;
  return brought_on::in_collectives;
}

}  // namespace

void let_mpi_forget(int (*)()) noexcept { coset_preload_of_ucx.watched = nullptr; }

#endif

brought_on have_mpi_call(int (*look)()) {
  int const here = static_cast<int>(begin_here(look));
  int least = 0;
  PMPI_Allreduce(&here, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (here != 0 && least == 0) let_mpi_forget(look);
  return static_cast<brought_on>(least);
}

}  // namespace coset::interpose
