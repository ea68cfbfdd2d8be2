// SPDX-License-Identifier: Apache-2.0
#include "mpi/transport/window.hpp"

#include <cstring>
#include <utility>

namespace coset::mpi {

window::window(communicator const& host, std::size_t bytes, std::size_t zeroed) : bytes_(bytes) {
  bool const first = host.rank() == 0;
  void* mine = nullptr;
  int const code =
      MPI_Win_allocate_shared(first ? static_cast<MPI_Aint>(bytes) : 0, 1, MPI_INFO_NULL, host.get(), &mine, &own_);
  int const here = code == MPI_SUCCESS ? 1 : 0;
  if (reduce_over_all(host, here, MPI_INT, MPI_MIN) == 0) {
    own_ = MPI_WIN_NULL;
    return;
  }
  MPI_Aint length = 0;
  int unit = 0;
  require(MPI_Win_shared_query(own_, 0, &length, &unit, &begin_), "MPI_Win_shared_query");
  renew(host, zeroed);
}

void window::renew(communicator const& host, std::size_t zeroed) {
  if (host.rank() == 0) std::memset(begin_, 0, zeroed);
  meet(host);
}

window::~window() {
  if (own_ != MPI_WIN_NULL) MPI_Win_free(&own_);
}

window& window::operator=(window&& other) noexcept {
  std::swap(own_, other.own_);
  std::swap(begin_, other.begin_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace coset::mpi
