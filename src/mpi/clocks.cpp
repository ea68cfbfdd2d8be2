// SPDX-License-Identifier: Apache-2.0
#include "mpi/clocks.hpp"

#include <cstdint>

#include "runtime/trace/process.hpp"

namespace coset::inline COSET_ABI::mpi {
namespace {

constexpr int exchanges = 20;

std::int64_t received(communicator const& all, int from) {
  std::int64_t word = 0;
  MPI_Request request;
  require(MPI_Irecv(&word, 1, MPI_INT64_T, from, 0, all.get(), &request), "MPI_Irecv");
  await(request, {}, "the time of another process");
  return word;
}

void send(communicator const& all, int to, std::int64_t word) {
  require(MPI_Send(&word, 1, MPI_INT64_T, to, 0, all.get()), "MPI_Send");
}

void answer(communicator const& all, int asker) {
  for (int k = 0; k < exchanges; ++k) {
    received(all, asker);
    send(all, asker, trace::now());
  }
}

/// Half of the way there and back passes before the answer is given.
std::int64_t asked(communicator const& all) {
  std::int64_t ahead = 0, shortest = INT64_MAX;
  for (int k = 0; k < exchanges; ++k) {
    std::int64_t const begin = trace::now();
    send(all, 0, begin);
    std::int64_t const there = received(all, 0), end = trace::now();
    if (end - begin >= shortest) continue;
    shortest = end - begin;
    ahead = there - (begin + (end - begin) / 2);
  }
  return ahead;
}

/// The number in MPI_COMM_WORLD of the first of these processes.
int first_in_world(communicator const& all) {
  MPI_Group these = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  require(MPI_Comm_group(all.get(), &these), "MPI_Comm_group");
  require(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  int const first = 0;
  int there = 0;
  require(MPI_Group_translate_ranks(these, 1, &first, world, &there), "MPI_Group_translate_ranks");
  MPI_Group_free(&these);
  MPI_Group_free(&world);
  return there;
}

}  // namespace

void identify_process(communicator const& all) {
  int self = all.rank(), processes = all.size();
  if (is_initialized()) {
    require(MPI_Comm_rank(MPI_COMM_WORLD, &self), "MPI_Comm_rank");
    require(MPI_Comm_size(MPI_COMM_WORLD, &processes), "MPI_Comm_size");
  }
  trace::identify(static_cast<std::uint32_t>(self), static_cast<std::uint32_t>(processes));
}

std::uint64_t agreed_name(communicator const& all, std::uint32_t round) {
  auto const first = static_cast<std::uint32_t>(is_initialized() ? first_in_world(all) : 0);
  return std::uint64_t{first} << 32 | round;
}

void align_clocks(communicator const& all) {
  int const self = all.rank(), processes = all.size();
  std::int64_t ahead = 0;
  if (self != 0) ahead = asked(all);
  for (int k = 1; k < processes && self == 0; ++k) answer(all, k);
  trace::align(static_cast<std::uint32_t>(processes), ahead);
}

}  // namespace coset::mpi
