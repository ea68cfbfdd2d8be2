// SPDX-License-Identifier: Apache-2.0
#include "mpi/transport/part_transport.hpp"

#include "mpi/transport/transport.hpp"

namespace coset::inline COSET_ABI::mpi {

/// Of a process, each proxy has a lane of its own, and where these are too few, another number. Senders need not be told
/// apart in this way, as no thread belongs to two parts of one number.
part_transport::part_transport(mpi::transport& whole, runtime::part_of_team const& part)
    : whole_(whole), number_(part.number), in_whole_(part.in_whole) {
  auto const lanes = static_cast<rank_t>(whole.by_.lanes.of->count());
  std::map<int, rank_t> receivers;  // of each process so far
  for (rank_t r = 0; r < in_whole_.size(); ++r) {
    if (part.spread.proxy_of(r) != r) continue;
    process const& its = whole.of_.of_rank(in_whole_[r]);
    rank_t const before = receivers[its.rank]++;
    proxies_[r] = {its.rank, in_whole_[r] - its.first, before % lanes, number_ + before / lanes};
  }
}

address part_transport::way(rank_t sender, rank_t receiver, rank_t other, std::uint32_t channel) const {
  carrier const& s = proxies_.at(sender);
  carrier const& r = proxies_.at(receiver);
  auto const& [lanes, seat] = whole_.by_.lanes;
  int const tag = lanes->tag_of_part(seat, r.number, s.thread, channel);
  return {lanes->of(r.lane), proxies_.at(other).process, tag, tag + 1};
}

address part_transport::to(rank_t sender, rank_t receiver, std::uint32_t channel) const {
  return way(sender, receiver, receiver, channel);
}

address part_transport::from(rank_t sender, rank_t receiver, std::uint32_t channel) const {
  return way(sender, receiver, sender, channel);
}

std::unique_ptr<runtime::endpoint> part_transport::open(rank_t proxy, std::uint32_t channel) {
  return std::make_unique<endpoint>(static_cast<directory const&>(*this), proxy, channel);
}

void part_transport::progress(detail::rank_state& proxy) { whole_.progress(proxy); }

void part_transport::ask(detail::rank_state& proxy, runtime::flight const& f, rank_t peer) {
  notice question = make_notice(notice::kind::question, whole_.round_, runtime::cause::mismatch, f.plan->what.text());
  question.asked = peer;
  question.part = number_;
  whole_.ask(proxy, f, question, in_whole_[peer]);
}

void part_transport::tell_failure(detail::rank_state& leaver) noexcept { whole_.tell_failure(leaver); }

std::chrono::nanoseconds part_transport::deadline() const noexcept { return whole_.deadline(); }

std::string part_transport::place_of(rank_t rank) const { return whole_.place_of(in_whole_.at(rank)); }

runtime::rules_of_parts part_transport::rules() const noexcept { return whole_.rules(); }

std::unique_ptr<runtime::transport> part_transport::open_part(runtime::part_of_team const& part) {
  return whole_.open_part(part);
}

/// The team cannot be destroyed then: its lanes are still in use.
void part_transport::leave_behind() const noexcept {
  left_behind_ = true;
  whole_.leave_behind();
}

std::size_t part_transport::with_envelope() const noexcept { return whole_.with_envelope(); }

}  // namespace coset::mpi
