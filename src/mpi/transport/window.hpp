// SPDX-License-Identifier: Apache-2.0
// Memory that the processes of one host share.
#pragma once

#include "mpi/transport/calls.hpp"
#include "numa/memory.hpp"

namespace coset::mpi {

class window {
 public:
  window() = default;
  /// Collective over a host's processes. Empty on all if there is not so much. The first `zeroed` bytes are zero.
  window(communicator const& host, std::size_t bytes, std::size_t zeroed);
  ~window();  ///< collective, unless it was let go
  window(window&& other) noexcept
      : own_(std::exchange(other.own_, MPI_WIN_NULL)), begin_(other.begin_), bytes_(other.bytes_) {}
  window& operator=(window&& other) noexcept;

  /// Collective, as above: zeroes these bytes again, which another team has used.
  void renew(communicator const& host, std::size_t zeroed);

  bool empty() const noexcept { return own_ == MPI_WIN_NULL; }
  /// Valid as long as this window.
  numa::memory memory() const noexcept { return numa::memory::borrowed(begin_, bytes_); }

 private:
  MPI_Win own_ = MPI_WIN_NULL;
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace coset::mpi
