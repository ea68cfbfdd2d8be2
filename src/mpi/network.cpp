// SPDX-License-Identifier: Apache-2.0
#include "mpi/network.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace coset::mpi {
namespace {

using clock = std::chrono::steady_clock;

constexpr int tries = 5, messages_at_once = 8;
constexpr int first_bytes = 64 * 1024, most_bytes = 4 * 1024 * 1024;
/// Shorter bursts say more of buffers on the way than of the way.
constexpr double least_seconds = 2e-3;

/// The first processes of all domains, in a ring: what one sends to the next, all send at once.
class ring {
 public:
  ring(communicator const& all, bool speaks) : of_(communicator::part_of(all.get(), speaks, all.rank())) {}

  bool is_empty() const { return of_.get() == MPI_COMM_NULL; }

  /// Seconds until so many messages have come in, the fastest of some tries.
  double fastest(int messages, int bytes) {
    double least = seconds(messages, bytes);
    for (int k = 1; k < tries; ++k) least = std::min(least, seconds(messages, bytes));
    return least;
  }

  double seconds(int messages, int bytes) {
    int const self = of_.rank(), size = of_.size();
    auto const length = static_cast<std::size_t>(bytes);
    in_.resize(length * static_cast<std::size_t>(messages));
    out_.resize(length);
    std::vector<MPI_Request> all(2 * static_cast<std::size_t>(messages));
    auto const begin = clock::now();
    for (std::size_t k = 0; k < all.size(); k += 2) {
      require(MPI_Irecv(in_.data() + k / 2 * length, bytes, MPI_BYTE, (self + size - 1) % size, 0, of_.get(), &all[k]),
              "MPI_Irecv");
      require(MPI_Isend(out_.data(), bytes, MPI_BYTE, (self + 1) % size, 0, of_.get(), &all[k + 1]), "MPI_Isend");
    }
    require(MPI_Waitall(static_cast<int>(all.size()), all.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    return std::chrono::duration<double>(clock::now() - begin).count();
  }

 private:
  communicator of_;
  std::vector<std::byte> in_, out_;
};

double slowest(communicator const& all, double mine) {
  double found = 0;
  require(MPI_Allreduce(&mine, &found, 1, MPI_DOUBLE, MPI_MAX, all.get()), "MPI_Allreduce");
  return found;
}

}  // namespace

schedule::link measured_network(communicator const& all, bool speaks) {
  ring around(all, speaks);
  auto const measured = [&](auto seconds) { return slowest(all, around.is_empty() ? 0 : seconds()); };
  double const one = measured([&] { return around.fastest(1, 8); });
  double const several = measured([&] { return around.fastest(messages_at_once, 8); });
  double const per_message = std::max(several - one, 0.0) / (messages_at_once - 1);
  double per_byte = 0;
  for (int bytes = first_bytes; bytes <= most_bytes; bytes *= 2) {
    double const took = measured([&] { return around.seconds(1, bytes); });
    per_byte = std::max(took - one, 0.0) / bytes;
    if (took > least_seconds) break;
  }
  return {UINT32_MAX, std::max(one - per_message, 0.0), per_byte, per_message};
}

}  // namespace coset::mpi
