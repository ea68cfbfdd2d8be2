// SPDX-License-Identifier: Apache-2.0
// The processors that this process may use, whatever its first thread was confined to.
#pragma once

#include <string>

#include "numa/mask.hpp"

namespace coset::numa {

/// Whom a thread's mask speaks for.
struct affinity {
  mask processors;        ///< for teams made by the calling thread
  bool confined = false;  ///< and the calling thread may use part of them only, by OpenMP's doing
  std::string warning;    ///< empty, or what confines the thread while nobody tells what the process had before
};

/// The calling thread's mask; or, outside of parallel regions, all of OpenMP's places if the thread was confined to one of
/// them: that is what OMP_PROC_BIND and OMP_PLACES do to the thread that loads OpenMP, and they say nothing of who works
/// beside OpenMP's threads. Threads that bind_this_thread() has pinned stay so. Where the runtime cannot be asked, since it is
/// linked statically say, `warning` names the variable. Cost: some system calls.
affinity affinity_of_process();

}  // namespace coset::numa
