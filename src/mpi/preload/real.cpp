// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/real.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace coset::interpose {
namespace {

/// The next definition behind this library: MPI's.
template <class Function>
void find(Function& function, char const* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "coset: the MPI of this program has no %s; libcoset_mpi.so is of another one\n", name);
    std::abort();
  }
  function = reinterpret_cast<Function>(found);
}

real_functions find_all() {
  real_functions all;
#define COSET_FIND(name) find(all.name, "PMPI_" #name);
  COSET_COUNTED(COSET_FIND)
  COSET_NONBLOCKING(COSET_FIND)
  COSET_FIND(Barrier)
  COSET_FIND(Ibarrier)
  COSET_WAITING(COSET_FIND)
  COSET_MESSAGES(COSET_FIND)
  COSET_COLLECTIVES(COSET_FIND)
  COSET_MEETING(COSET_FIND)
  COSET_MAKING(COSET_FIND)
  COSET_LIFETIMES(COSET_FIND)
#undef COSET_FIND
#if defined(OPEN_MPI)
#define COSET_FIND(name) find(all.name, "PMPIX_" #name);
#else
#define COSET_FIND(name) find(all.name, "PMPI_" #name);
#endif
  COSET_PERSISTENT(COSET_FIND)
  COSET_FIND(Barrier_init)
#undef COSET_FIND
#if MPI_VERSION >= 4
#define COSET_FIND(name) find(all.name##_c, "PMPI_" #name "_c");
  COSET_COUNTED(COSET_FIND)
  COSET_NONBLOCKING(COSET_FIND)
  COSET_PERSISTENT(COSET_FIND)
  COSET_MESSAGES(COSET_FIND)
  COSET_COLLECTIVES(COSET_FIND)
#undef COSET_FIND
#endif
  return all;
}

}  // namespace

real_functions const real = find_all();

}  // namespace coset::interpose
