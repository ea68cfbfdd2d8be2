// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command/bench/processes_request.hpp"

namespace coset::cli {

/// On every process of the launch; process 0 prints. Throws error in a build without MPI, or if the threads do not divide
/// each host's processes.
void measure_processes(processes_request const&);

}  // namespace coset::cli
