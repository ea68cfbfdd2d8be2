// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/real.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace coset::interpose {
namespace {

#if defined(OPEN_MPI)
#define COSET_PERSISTENT_PREFIX "MPIX_"
#else
#define COSET_PERSISTENT_PREFIX "MPI_"
#endif

/// Calls find(function, its name without P) for each function of the table.
template <class Find>
real_functions find_all(Find const& find) {
  real_functions all{};
#define COSET_FIND(name) find(all.name, "MPI_" #name);
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
#define COSET_FIND(name) find(all.name, COSET_PERSISTENT_PREFIX #name);
  COSET_PERSISTENT(COSET_FIND)
  COSET_FIND(Barrier_init)
#undef COSET_FIND
#if MPI_VERSION >= 4
#define COSET_FIND(name) find(all.name##_c, "MPI_" #name "_c");
  COSET_COUNTED(COSET_FIND)
  COSET_NONBLOCKING(COSET_FIND)
  COSET_PERSISTENT(COSET_FIND)
  COSET_MESSAGES(COSET_FIND)
  COSET_COLLECTIVES(COSET_FIND)
#undef COSET_FIND
#endif
  return all;
}

/// Of the next definition behind this library: MPI's, or that of a tool which defines second names, too, as Darshan does.
template <class Function>
void find_real(Function& function, char const* name) {
  void* const found = dlsym(RTLD_NEXT, (std::string("P") + name).c_str());
  if (found == nullptr) {
    std::fprintf(stderr, "coset: the MPI of this program has no P%s; libcoset_mpi.so is of another one\n", name);
    std::abort();
  }
  function = reinterpret_cast<Function>(found);
}

/// Where a function's library begins, and its name.
Dl_info library_of(void* function) {
  Dl_info found{};
  if (function != nullptr) dladdr(function, &found);
  return found;
}

/// Both names of a function are in one library where that is MPI; or a tool that stands below as this layer does.
template <class Function>
void find_tool(Function& function, char const* name) {
  void* const first = dlsym(RTLD_NEXT, name);
  void* const second = dlsym(RTLD_NEXT, (std::string("P") + name).c_str());
  if (first != nullptr && library_of(first).dli_fbase != library_of(second).dli_fbase)
    function = reinterpret_cast<Function>(first);
}

}  // namespace

real_functions const real = find_all([](auto& function, char const* name) { find_real(function, name); });
real_functions const tools = find_all([](auto& function, char const* name) { find_tool(function, name); });

char const* name_of_tool() noexcept {
  void* const any =
      tools.Init != nullptr ? reinterpret_cast<void*>(tools.Init) : reinterpret_cast<void*>(tools.Allreduce);
  return library_of(any).dli_fname;
}

}  // namespace coset::interpose
