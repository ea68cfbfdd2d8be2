// SPDX-License-Identifier: Apache-2.0
#include "mpi/post.hpp"

#include <algorithm>

namespace coset::mpi {
namespace {

rank_t most_lanes(landscape const& of) {
  return std::ranges::max(of.processes, {}, &process::lanes).lanes;
}

/// The largest tag that the library takes.
int largest_tag(MPI_Comm of) {
  void* value = nullptr;
  int is_there = 0;
  require(MPI_Comm_get_attr(of, MPI_TAG_UB, &value, &is_there), "MPI_Comm_get_attr");
  return is_there != 0 ? *static_cast<int*>(value) : 32767;
}

}  // namespace

post::post(MPI_Comm all, landscape const& of, patience longest) : of_(of), longest_(longest), notices_(all) {
  for (rank_t l = 0; l < most_lanes(of); ++l) lanes_.push_back(communicator::duplicate_of(all));
  int const per_round = static_cast<int>(lanes_.size() * team_room::channels);
  rounds_told_apart_ = std::min(largest_tag(all) / per_round, 1 << 20);
}

/// Lanes are the receivers', tags tell senders of one process apart.
address post::way(rank_t sender, rank_t receiver, rank_t other, std::uint32_t channel) const {
  process const& s = of_.of_rank(sender);
  process const& r = of_.of_rank(receiver);
  auto const lanes = static_cast<std::uint32_t>(lanes_.size());
  std::uint32_t const age = round_ % static_cast<std::uint32_t>(rounds_told_apart_);
  std::uint32_t const tag = (age * lanes + (sender - s.first)) * team_room::channels + channel;
  return {lanes_[receiver - r.first].get(), of_.of_rank(other).rank, static_cast<int>(tag)};
}

address post::to(rank_t sender, rank_t receiver, std::uint32_t channel) const {
  return way(sender, receiver, receiver, channel);
}

address post::from(rank_t sender, rank_t receiver, std::uint32_t channel) const {
  return way(sender, receiver, sender, channel);
}

std::unique_ptr<team_room::mailbox> post::open(rank_t carrier, std::uint32_t channel) {
  return std::make_unique<mailbox>(static_cast<directory const&>(*this), carrier, channel);
}

void post::progress(detail::rank_state& carrier) { listen(carrier.team); }

void post::listen(detail::team_state& team) {
  notices_.listen([&](notice const& heard) {
    if (heard.round == round_) team.fail(heard.why, heard.reason.data());
  });
}

void post::tell_failure(detail::rank_state& carrier) noexcept {
  bool const carries = carrier.team.part.spread.carrier[carrier.number] == carrier.number;
  if (carries) tell(carrier.team, {});
}

void post::tell(detail::team_state const& team, std::string_view reason) noexcept {
  auto const& recorded = team.failure.recorded() ? team.failure : team.root.failure;
  auto const [why, text] =
      recorded.recorded() ? recorded.first() : std::pair{team_room::cause::aborted, std::string(reason)};
  notices_.tell(round_, why, text);
}

void post::let_go() noexcept {
  for (communicator& lane : lanes_) lane.let_go();
}

}  // namespace coset::mpi
