// SPDX-License-Identifier: Apache-2.0
#include "mpi/transport/window.hpp"

#include <cstring>

namespace coset::inline COSET_ABI::mpi {

using runtime::shared_file;

window::window(communicator const& host, std::size_t bytes, runtime::passing how) : passed_(how) {
  bool const first = host.rank() == 0;
  shared_file const made = first ? shared_file::make(bytes, how) : shared_file();
  shared_file::name at = made.called();
  require(MPI_Bcast(&at, sizeof at, MPI_BYTE, 0, host.get()), "MPI_Bcast");
  if (at == shared_file::name{}) return;
  own_ = shared_file::mapped(at, bytes);
  bool const everywhere = reduce_over_all(host, empty() ? 0 : 1, MPI_INT, MPI_MIN) != 0;
  if (!everywhere) own_ = {};
}

void window::renew(std::size_t zeroed) noexcept { std::memset(own_.data(), 0, zeroed); }

}  // namespace coset::mpi
