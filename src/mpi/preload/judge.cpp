// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/judge.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "mpi/preload/call.hpp"
#include "mpi/preload/flights/flights.hpp"
#include "mpi/preload/tally.hpp"

namespace coset::interpose {
namespace {

/// Calls in a row by one side, the first of which is not counted: it may come upon what the other side has left behind. A row as a
/// whole counts, as processes that go on before a call has arrived wait in a later one; the best of two or three rows, as others
/// may have disturbed them. A round is a row of either side.
constexpr std::uint16_t row = 5, calls_of_round = 2 * row, fewest_rounds = 2, most_rounds = 3;
/// After the first trial, the second, and each later one. Teams learn of their own plans meanwhile.
constexpr std::array<std::uint32_t, 3> rests = {500, 5'000, 50'000};
/// MPI is left what it does so much faster; a trial ends early with such a difference.
constexpr double worth_it = 1.05, plain_to_see = 1.5;

bool is_to_be_judged(arguments const& c) {
  if (detail::only_moves(c.what)) return !detail::is_barrier(c.what);
  // Where each waits for all, no message of MPI's goes on before, and the team has been the faster one on all machines.
  if (!detail::is_to_root(c.what) && !detail::is_scan(c.what)) return false;
  datatype const* const elements = known(c.type);
  return elements != nullptr && is_exact(c.operation, *elements);
}

}  // namespace

side kind_of_calls::next() const noexcept {
  if (!is_tried()) return winner_;
  return call_ % calls_of_round < row ? side::team : side::mpi;
}

void kind_of_calls::ended(MPI_Comm on, double seconds) {
  double& best = best_[static_cast<std::size_t>(next())];
  of_row_ = call_ % row == 0 ? 0 : of_row_ + seconds;
  if (++call_ % row == 0) best = call_ <= calls_of_round ? of_row_ : std::min(best, of_row_);
  if (call_ % calls_of_round == 0 && call_ >= fewest_rounds * calls_of_round) conclude(on);
}

/// The slowest process counts. Others may be waiting for what this one has in flight, which goes on meanwhile.
void kind_of_calls::conclude(MPI_Comm on) {
  std::array<double, 2> slowest = best_;
  MPI_Request request = MPI_REQUEST_NULL;
  if (real.Iallreduce(best_.data(), slowest.data(), 2, MPI_DOUBLE, MPI_MAX, on, &request) == MPI_SUCCESS)
    wait_for(request, MPI_STATUS_IGNORE);
  auto const [team, mpi] = slowest;
  bool const is_plain = team > plain_to_see * mpi || mpi > plain_to_see * team;
  if (!is_plain && call_ < most_rounds * calls_of_round) return;
  winner_ = team > worth_it * mpi ? side::mpi : side::team;
  call_ = 0;
  calls_until_trial_ = rests[std::min<std::size_t>(trials_, rests.size() - 1)];
  if (trials_ < rests.size()) ++trials_;
}

kind_of_calls* judge::kind_of(attachment const& a, arguments const& c) {
  if (a.size() == 1 || is_required() || !is_to_be_judged(c)) return nullptr;
  auto const bytes = known_bytes(a, c);
  if (!bytes) return nullptr;
  std::uint64_t const key = std::uint64_t{static_cast<std::uint8_t>(c.what)} << 16 | (c.varies ? 1u << 8 : 0u) |
                            static_cast<unsigned>(std::bit_width(*bytes));
  if (key != latest_key_) {
    latest_ = &kinds_[key];
    latest_key_ = key;
  }
  return latest_;
}

}  // namespace coset::interpose
