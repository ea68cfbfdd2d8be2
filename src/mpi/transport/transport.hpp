// SPDX-License-Identifier: Apache-2.0
// The transport between processes: the lanes of messages, and notices of failures.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mpi/pool/connections.hpp"
#include "mpi/process_map.hpp"
#include "mpi/transport/endpoint.hpp"
#include "mpi/transport/failure_notices.hpp"
#include "mpi/transport/part_transport.hpp"
#include "team/team_state.hpp"

namespace coset::inline COSET_ABI::mpi {

/// Copying so much costs less than another message on any network.
inline constexpr std::size_t least_with_envelope = 8 * 1024;

class transport final : public runtime::transport, private directory {
 public:
  /// `founded`: the team's first round; notices of earlier ones were meant for another team.
  transport(connections&, process_map const&, patience longest, std::uint32_t founded, bool any_thread_sends);

  std::unique_ptr<runtime::endpoint> open(rank_t proxy, std::uint32_t channel) override;
  void progress(detail::rank_state& rank) override;
  void ask(detail::rank_state& proxy, runtime::flight const&, rank_t peer) override;
  void tell_failure(detail::rank_state& leaver) noexcept override;
  std::chrono::nanoseconds deadline() const noexcept override { return longest_; }
  std::string place_of(rank_t) const override;
  runtime::rules_of_parts rules() const noexcept override;
  std::unique_ptr<runtime::transport> open_part(runtime::part_of_team const&) override;

  /// Messages of other rounds are not taken for messages of this one.
  void begin(std::uint32_t round) noexcept {
    round_ = round;
    early_.clear();
  }
  /// From the thread that calls run(): as the two above, for ranks that no longer call.
  void listen(detail::team_state&);
  void tell(detail::team_state const&, std::string_view reason) noexcept;
  /// While no run is under way: notices about a run are kept for it, or are late.
  void listen_between_runs();
  /// Tells all other processes that the team is over for good, and why; once.
  void tell_end(std::string_view reason) noexcept;
  /// Tells all other processes that this one waits for them to destroy the team.
  void take_leave() noexcept;
  /// Collective, once all processes have agreed to destroy the team.
  void hear_the_rest() { notices_.hear_the_rest(); }
  void stop_listening() noexcept { notices_.stop_listening(); }
  /// Why some process has told that the team is over; empty if none has.
  std::string end_heard() const;
  /// Which process waits for this one to destroy the team, in words; empty if none has told.
  std::string farewell_heard() const;
  /// What MPI has not ended, and never may: of the team, or of a part of it.
  bool has_left_behind() const noexcept override;
  /// Before the first endpoint is opened: what messages cost decides how much travels with an envelope.
  void fit_to(schedule::link const& network);
  /// From now on these processes combine the values of the slices' domains. [slice][domain]
  void offload_between(std::vector<std::vector<int>> members);
  /// Collective, afterwards, once every process has the memory for that.
  void open_offload();
  /// Collective, between rounds: forgets the offloads that have not ended on some process and never can.
  void offload_anew();

 private:
  friend part_transport;
  bool may_send(detail::rank_state const&) const noexcept;
  void ask(detail::rank_state& proxy, runtime::flight const&, notice about, rank_t in_whole);
  bool is_of_another_team(notice const&) const noexcept;
  void keep_in_mind(notice const&);
  std::vector<notice> come_early();
  void hear(detail::team_state&, notice const&);
  void answer(detail::team_state&, notice const& question);
  MPI_Comm circle(std::uint32_t slice, std::uint32_t channel) const override { return by_.offload.of(slice, channel); }
  void note_offload(std::uint32_t slice, std::uint32_t channel, bool under_way) const noexcept override;
  address to(rank_t sender, rank_t receiver, std::uint32_t channel) const override;
  address from(rank_t sender, rank_t receiver, std::uint32_t channel) const override;
  void leave_behind() const noexcept override { left_behind_ = true; }
  std::size_t with_envelope() const noexcept override { return with_envelope_; }
  address way(rank_t sender, rank_t receiver, rank_t other, std::uint32_t channel) const;

  connections& by_;
  process_map const& of_;
  patience const longest_;
  std::uint32_t const founded_;
  bool const any_thread_sends_;
  std::optional<circles> wanted_;  ///< in place of those that the connections have, as an earlier team wanted others
  mutable std::vector<std::atomic<std::uint32_t>> offloading_;  ///< [slice]: of this process, a bit for each channel
  std::size_t with_envelope_ = least_with_envelope;
  std::uint32_t round_ = founded_;
  mutable std::atomic<bool> left_behind_ = false;
  mutable std::mutex keeping_in_mind_;  ///< guards these
  std::string end_heard_, farewell_heard_;
  std::vector<notice> early_;  ///< notices of a run that others have begun before this process knows
  failure_notices notices_;
};

}  // namespace coset::mpi
