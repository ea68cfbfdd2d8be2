// SPDX-License-Identifier: Apache-2.0
#include "mpi/transport/lanes.hpp"

#include <algorithm>

#include "runtime/memory/lines.hpp"

namespace coset::inline COSET_ABI::mpi {
namespace {

/// Of what tags distinguish, teams need more rounds than neighbours: messages that no rank has received stay where they
/// are.
constexpr std::uint32_t most_seats = 64, least_rounds = 4096, most_rounds = 1 << 16;

/// The largest tag that the library takes.
std::uint32_t largest_tag() {
  void* value = nullptr;
  int is_there = 0;
  require(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &is_there), "MPI_Comm_get_attr");
  return static_cast<std::uint32_t>(is_there != 0 ? *static_cast<int*>(value) : 32767);
}

}  // namespace

/// Rounds have the lower half of all tags, parts the upper one.
lanes::lanes(rank_t count, rank_t threads)
    : made_(count), threads_(threads), first_of_parts_((largest_tag() / 2 + 1) & ~1u) {
  std::uint32_t const per_sender = runtime::channels * 2;
  std::uint32_t const rounds = first_of_parts_ / (count * per_sender);
  seats_ = std::clamp(rounds / least_rounds, 1u, most_seats);
  rounds_told_apart_ = std::min(rounds / seats_, most_rounds);
  numbers_told_apart_ = std::max((first_of_parts_ - 2) / (threads * per_sender * seats_), 1u);
}

void lanes::open(MPI_Comm of) {
  for (communicator& each : made_) each = communicator::duplicate_of(of);
}

int lanes::tag(std::uint32_t seat, std::uint32_t round, rank_t sender, std::uint32_t channel) const noexcept {
  auto const senders = static_cast<std::uint32_t>(made_.size());
  std::uint32_t const age = round % rounds_told_apart_;
  return static_cast<int>((((age * seats_ + seat) * senders + sender) * runtime::channels + channel) * 2);
}

int lanes::tag_of_part(std::uint32_t seat, std::uint32_t number, rank_t sender, std::uint32_t channel) const noexcept {
  std::uint32_t const age = number % numbers_told_apart_;
  std::uint32_t const within = ((age * seats_ + seat) * threads_ + sender) * runtime::channels + channel;
  return static_cast<int>(first_of_parts_ + within * 2);
}

}  // namespace coset::mpi
