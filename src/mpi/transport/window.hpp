// SPDX-License-Identifier: Apache-2.0
// Memory that the processes of one host share.
#pragma once

#include "mpi/transport/calls.hpp"
#include "numa/memory.hpp"
#include "runtime/memory/shared_file.hpp"

namespace coset::inline COSET_ABI::mpi {

/// No window of MPI's: that costs a communicator, and to free it is to wait for the other processes.
class window {
 public:
  window() = default;
  /// Collective over a host's processes. Zeroed; empty on all if one of them cannot have it.
  window(communicator const& host, std::size_t bytes, runtime::passing);
  /// By the host's first process: zeroes the first bytes again, which another team has used. No process may look at them
  /// until all have met.
  void renew(std::size_t zeroed) noexcept;

  bool empty() const noexcept { return own_.size() == 0; }
  runtime::passing passed() const noexcept { return passed_; }
  /// Valid as long as this window.
  numa::memory memory() const noexcept { return numa::memory::borrowed(own_.data(), own_.size()); }

 private:
  numa::memory own_;
  runtime::passing passed_ = runtime::passing::by_descriptor;
};

}  // namespace coset::mpi
