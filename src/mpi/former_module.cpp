// SPDX-License-Identifier: Apache-2.0
// libcoset_mpi.so was once what is preloaded before MPI, in the same place. Lines that still preload it are told so, by processes
// that have used MPI alone: LD_PRELOAD is there for shells and launchers, too.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>

#include "base/environment/variables.hpp"

namespace {

bool const is_preloaded = coset::environment::value("LD_PRELOAD").find("libcoset_mpi.so") != std::string_view::npos;

__attribute__((destructor)) void say_whom_to_preload() {
  int was_begun = 0;
  if (!is_preloaded || PMPI_Initialized(&was_begun) != MPI_SUCCESS || was_begun == 0) return;
  Dl_info self{};
  dladdr(&is_preloaded, &self);
  std::fprintf(stderr,
               "coset: %s in LD_PRELOAD is a library to link now and has carried out nothing; what to preload is "
               "libcoset_preload.so, in the folder above\n",
               self.dli_fname);
}

}  // namespace
