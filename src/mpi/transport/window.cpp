// SPDX-License-Identifier: Apache-2.0
#include "mpi/transport/window.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <random>
#include <string>
#include <utility>

#include "text/format.hpp"

namespace coset::mpi {
namespace {

/// Empty: there is none.
using path = std::array<char, 64>;

class open_file {
 public:
  open_file() = default;
  open_file(path const& at, int how) : number_(at[0] == '\0' ? -1 : open(at.data(), how | O_RDWR | O_CLOEXEC, 0600)) {}
  open_file(open_file&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  open_file& operator=(open_file&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~open_file() {
    if (number_ >= 0) close(number_);
  }
  int number() const noexcept { return number_; }

 private:
  int number_ = -1;
};

/// Containers may share the directory, but count processes for themselves.
path new_name() {
  std::random_device number;
  path made{};
  std::ranges::copy(text::format("{}/coset-{:08x}{:08x}{:08x}", memory_of_windows, number(), number(), number()),
                    made.begin());
  return made;
}

/// As long as that, or none.
open_file new_file(path& at, std::size_t bytes) {
  at = new_name();
  open_file made(at, O_CREAT | O_EXCL);
  if (made.number() >= 0 && ftruncate(made.number(), static_cast<off_t>(bytes)) == 0) return made;
  if (made.number() >= 0) unlink(at.data());
  at = {};
  return {};
}

numa::memory mapped(open_file const& file, std::size_t bytes) {
  if (file.number() < 0) return {};
  try {
    return numa::memory::shared(file.number(), bytes);
  } catch (std::bad_alloc const&) {
    return {};
  }
}

}  // namespace

window::window(communicator const& host, std::size_t bytes) {
  bool const first = host.rank() == 0;
  path at{};
  open_file file;
  if (first) file = new_file(at, bytes);
  require(MPI_Bcast(at.data(), static_cast<int>(at.size()), MPI_CHAR, 0, host.get()), "MPI_Bcast");
  if (!first) file = open_file(at, 0);
  own_ = mapped(file, bytes);
  bool const everywhere = reduce_over_all(host, empty() ? 0 : 1, MPI_INT, MPI_MIN) != 0;
  if (first && at[0] != '\0') unlink(at.data());
  if (!everywhere) own_ = {};
}

void window::renew(communicator const& host, std::size_t zeroed) {
  if (host.rank() == 0) std::memset(own_.data(), 0, zeroed);
  meet(host);
}

}  // namespace coset::mpi
