// SPDX-License-Identifier: Apache-2.0
#include "mpi/transport/transport.hpp"

#include <algorithm>
#include <utility>

#include "base/text/format.hpp"
#include "runtime/failure/argument_check.hpp"

namespace coset::inline COSET_ABI::mpi {

transport::transport(connections& by, process_map const& of, patience longest, std::uint32_t founded,
                     bool any_thread_sends)
    : by_(by), of_(of), longest_(longest), founded_(founded), any_thread_sends_(any_thread_sends), notices_(by.all) {}

runtime::rules_of_parts transport::rules() const noexcept {
  lanes const& all = *by_.lanes.of;
  return {any_thread_sends_, static_cast<rank_t>(all.count()), all.numbers_told_apart(), longest_message};
}

std::unique_ptr<runtime::transport> transport::open_part(runtime::part_of_team const& part) {
  return std::make_unique<part_transport>(*this, part);
}

bool transport::may_send(detail::rank_state const& rank) const noexcept {
  return any_thread_sends_ || rank.root.rank == 0;
}

std::string transport::place_of(rank_t rank) const {
  process const& p = of_.of_rank(rank);
  return text::format("process {} on {}", p.rank, of_.hosts.at(static_cast<std::size_t>(p.host)));
}

/// What travels with an envelope is copied twice.
void transport::fit_to(schedule::link const& network) {
  constexpr double copied_twice = 0.1e-9;  // seconds per byte
  auto const worth_a_message = static_cast<std::size_t>(network.per_peer / copied_twice);
  with_envelope_ = std::clamp(worth_a_message, least_with_envelope, most_with_envelope());
}

/// Lanes belong to receivers; tags distinguish the senders of one process.
address transport::way(rank_t sender, rank_t receiver, rank_t other, std::uint32_t channel) const {
  process const& s = of_.of_rank(sender);
  process const& r = of_.of_rank(receiver);
  auto const& [lanes, seat] = by_.lanes;
  int const tag = lanes->tag(seat, round_, sender - s.first, channel);
  return {lanes->of(receiver - r.first), of_.of_rank(other).rank, tag, tag + 1};
}

address transport::to(rank_t sender, rank_t receiver, std::uint32_t channel) const {
  return way(sender, receiver, receiver, channel);
}

address transport::from(rank_t sender, rank_t receiver, std::uint32_t channel) const {
  return way(sender, receiver, sender, channel);
}

std::unique_ptr<runtime::endpoint> transport::open(rank_t proxy, std::uint32_t channel) {
  return std::make_unique<endpoint>(static_cast<directory const&>(*this), proxy, channel);
}

void transport::progress(detail::rank_state& rank) {
  if (may_send(rank)) listen(rank.team.origin());
}

/// Rounds wrap around.
bool transport::is_of_another_team(notice const& heard) const noexcept {
  return static_cast<std::int32_t>(heard.round - founded_) < 0;
}

void transport::keep_in_mind(notice const& heard) {
  std::lock_guard const lock(keeping_in_mind_);
  if (heard.what == notice::kind::farewell) farewell_heard_ = heard.reason.data();
  if (heard.what == notice::kind::failure && heard.why == runtime::cause::messages && end_heard_.empty())
    end_heard_ = heard.reason.data();
}

std::string transport::end_heard() const {
  std::lock_guard const lock(keeping_in_mind_);
  return end_heard_;
}

std::string transport::farewell_heard() const {
  std::lock_guard const lock(keeping_in_mind_);
  return farewell_heard_;
}

/// A process that takes leave has ended this run: its notice is for later.
void transport::hear(detail::team_state& team, notice const& heard) {
  bool const of_end = heard.why == runtime::cause::messages;
  if (heard.what == notice::kind::failure && (of_end || heard.round == round_))
    team.shared.fail(heard.why, heard.reason.data());
  if (heard.what == notice::kind::question && heard.round == round_) answer(team, heard);
}

void transport::listen(detail::team_state& team) {
  for (notice const& early : come_early()) hear(team, early);
  while (auto const heard = notices_.heard()) {
    if (is_of_another_team(*heard)) continue;
    keep_in_mind(*heard);
    hear(team, *heard);
  }
}

void transport::listen_between_runs() {
  while (auto const heard = notices_.heard()) {
    if (is_of_another_team(*heard)) continue;
    keep_in_mind(*heard);
    std::lock_guard const lock(keeping_in_mind_);
    early_.push_back(*heard);
  }
}

std::vector<notice> transport::come_early() {
  std::lock_guard const lock(keeping_in_mind_);
  return std::exchange(early_, {});
}

void transport::tell_end(std::string_view reason) noexcept { notices_.tell(round_, runtime::cause::messages, reason); }

void transport::take_leave() noexcept { notices_.take_leave(round_); }

void transport::ask(detail::rank_state& proxy, runtime::flight const& f, rank_t peer) {
  notice question = make_notice(notice::kind::question, round_, runtime::cause::mismatch, f.plan->what.text(f.line.by));
  question.asked = peer;
  ask(proxy, f, question, peer);
}

void transport::ask(detail::rank_state& proxy, runtime::flight const& f, notice question, rank_t in_whole) {
  question.asking = proxy.number;
  question.number = f.act.number;
  question.history = f.act.history;
  question.in_whole = in_whole;
  notices_.ask(of_.of_rank(in_whole).rank, question);
}

/// A rank that has taken part before it left has sent its messages; one that has done something else never will.
void transport::answer(detail::team_state& team, notice const& question) {
  rank_t const asked = question.in_whole - team.shared.part.first;
  // Partner: the release store when a rank leaves; what it has begun is visible then.
  bool const has_left = team.shared.left(asked).load(std::memory_order_acquire) == team.shared.round();
  std::string what;
  auto const after = [&](std::uint32_t latest) {
    if (has_left && static_cast<std::int32_t>(latest - question.number) < 0) what = "has left";
  };
  auto const look_at = [&](runtime::own_line const& theirs) {
    if (runtime::has_gone_elsewhere(theirs, question.number, question.history))
      what = runtime::act_of(theirs, question.number, team.shared.kind.one_process);
    else
      after(runtime::latest_of(theirs));
  };
  if (question.part == 0)
    look_at(team.shared.arena.own(asked));
  else
    team.membership.parts->look_up(question.part, question.in_whole, look_at, after);
  if (what.empty()) return;
  std::string const reason = text::format("ranks disagree: rank {} calls {}, rank {} {}", question.asking,
                                          question.reason.data(), question.asked, what);
  team.shared.fail(runtime::cause::mismatch, reason);
  notices_.tell(round_, runtime::cause::mismatch, reason);
}

void transport::tell_failure(detail::rank_state& leaver) noexcept {
  if (may_send(leaver)) tell(leaver.team.origin(), {});
}

void transport::tell(detail::team_state const& team, std::string_view reason) noexcept {
  auto const& recorded = team.shared.failure.recorded() ? team.shared.failure : team.root.shared.failure;
  if (!recorded.recorded()) return notices_.tell(round_, runtime::cause::aborted, reason);
  auto const [why, text] = recorded.first();
  notices_.tell(round_, why, text);
}

void transport::offload_between(std::vector<std::vector<int>> members) {
  offloading_ = std::vector<std::atomic<std::uint32_t>>(members.size());
  if (by_.offload.members() != members) wanted_.emplace(std::move(members));
}

void transport::open_offload() {
  if (!wanted_) return;
  by_.offload = std::move(*wanted_);
  wanted_.reset();
  by_.offload.open(by_.all);
}

bool transport::has_left_behind() const noexcept {
  return left_behind_ || std::ranges::any_of(offloading_, [](auto const& channels) { return channels != 0; });
}

void transport::note_offload(std::uint32_t slice, std::uint32_t channel, bool under_way) const noexcept {
  std::uint32_t const bit = 1u << channel;
  under_way ? offloading_[slice].fetch_or(bit, std::memory_order_relaxed)
            : offloading_[slice].fetch_and(~bit, std::memory_order_relaxed);
}

void transport::offload_anew() {
  for (std::uint32_t slice = 0; slice < offloading_.size(); ++slice) {
    std::uint32_t const stuck = offloading_[slice].exchange(0);
    std::uint32_t const everywhere =
        reduce_over_all(by_.all, by_.stuck, stuck, MPI_UINT32_T, MPI_BOR, longest_, {}, "all processes");
    by_.offload.make_anew(by_.all, slice, everywhere);
  }
}

}  // namespace coset::mpi
