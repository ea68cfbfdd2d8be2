// SPDX-License-Identifier: Apache-2.0
// The transport of a part of a team: the team's own lanes and notices, under tags that tell its messages apart.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "mpi/transport/endpoint.hpp"

namespace coset::inline COSET_ABI::mpi {

/// MPI counts bytes in an int. Longer vectors go in segments.
inline constexpr std::size_t longest_message = std::size_t{1} << 30;

class transport;

/// Makes no communicator and asks no other process, so parts come and go for nothing.
class part_transport final : public runtime::transport, private directory {
 public:
  part_transport(mpi::transport& whole, runtime::part_of_team const&);

  std::unique_ptr<runtime::endpoint> open(rank_t proxy, std::uint32_t channel) override;
  void progress(detail::rank_state& proxy) override;
  void ask(detail::rank_state& proxy, runtime::flight const&, rank_t peer) override;
  void tell_failure(detail::rank_state& leaver) noexcept override;
  std::chrono::nanoseconds deadline() const noexcept override;
  std::string place_of(rank_t) const override;
  bool has_left_behind() const noexcept override { return left_behind_; }
  runtime::rules_of_parts rules() const noexcept override;
  std::unique_ptr<runtime::transport> open_part(runtime::part_of_team const&) override;

 private:
  /// A rank that sends and receives.
  struct carrier {
    int process;
    rank_t thread;
    rank_t lane;           ///< in which it receives
    std::uint32_t number;  ///< under which it receives: that of the part, or one of those that follow
  };

  address way(rank_t sender, rank_t receiver, rank_t other, std::uint32_t channel) const;
  address to(rank_t sender, rank_t receiver, std::uint32_t channel) const override;
  address from(rank_t sender, rank_t receiver, std::uint32_t channel) const override;
  MPI_Comm circle(std::uint32_t, std::uint32_t) const override { return MPI_COMM_NULL; }
  void note_offload(std::uint32_t, std::uint32_t, bool) const noexcept override {}
  void leave_behind() const noexcept override;
  std::size_t with_envelope() const noexcept override;

  mpi::transport& whole_;
  std::uint32_t const number_;
  std::vector<rank_t> const in_whole_;
  std::map<rank_t, carrier> proxies_;  ///< by their rank in the part
  mutable std::atomic<bool> left_behind_ = false;
};

}  // namespace coset::mpi
