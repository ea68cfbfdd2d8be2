// SPDX-License-Identifier: Apache-2.0
// The processors that this process may use, whatever its first thread was confined to, and what else OpenMP's runtime
// knows of the calling thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "numa/mask.hpp"

namespace coset::numa {

/// The processors that a thread may use.
struct affinity {
  mask processors;        ///< for teams made by the calling thread
  bool confined = false;  ///< the calling thread may use only part of them, because of OpenMP
  std::string warning;    ///< empty, or what confines the thread if the process's own mask is unknown
};

/// The calling thread's mask. Outside of parallel regions, if OpenMP has confined the thread to one of its places, all
/// places: OMP_PROC_BIND and OMP_PLACES confine the thread that loads OpenMP, but say nothing about threads beside
/// OpenMP's. Threads that bind_this_thread() has pinned keep their mask. If the runtime cannot be asked, for example
/// because it is linked statically, `warning` names the variable. Cost: some system calls.
affinity affinity_of_process();

/// The threads of the OpenMP region that the calling thread is in. Nothing outside of regions, within nested regions of
/// several threads, where it does not say how many threads there are in all, and without a runtime that can be asked.
std::optional<std::size_t> threads_of_openmp_region();

}  // namespace coset::numa
