// SPDX-License-Identifier: Apache-2.0
#include "mpi/transport/endpoint.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

#include "text/format.hpp"

namespace coset::mpi {
namespace {

using runtime::envelope;
using runtime::piece;

/// Up to this size one copy costs less than another message.
constexpr std::size_t short_bytes = 8 * 1024;
/// The room of a receive before it is known which message comes.
constexpr std::size_t opening_bytes = sizeof(envelope) + short_bytes;

std::size_t total(std::span<piece const> pieces) {
  std::size_t bytes = 0;
  for (piece const& p : pieces) bytes += p.bytes;
  return bytes;
}

void pack(std::span<piece const> from, std::byte* to) {
  for (piece const& p : from) {
    std::memcpy(to, p.data, p.bytes);
    to += p.bytes;
  }
}

void unpack(std::byte const* from, std::span<piece const> to) {
  for (piece const& p : to) {
    std::memcpy(p.data, from, p.bytes);
    from += p.bytes;
  }
}

int checked_length(std::size_t bytes) {
  if (bytes > INT_MAX) throw error(text::format("a message of {} bytes: MPI counts them up to {}", bytes, INT_MAX));
  return static_cast<int>(bytes);
}

}  // namespace

bool endpoint::is_short(std::size_t bytes) { return bytes <= short_bytes; }

endpoint::~endpoint() { give_up(); }

void endpoint::begin() {
  give_up();
  expected_ = sent_ = 0;
}

/// Does nothing after an operation that has not failed. Receives can be cancelled; sends can only be forgotten, and
/// their buffers have to stay. So have, for ever, the buffers that an offload may still write.
void endpoint::give_up() noexcept {
  for (auto& c : offloads_) {
    if (c && c->under_way()) static_cast<void>(c.release());
  }
  for (std::size_t k = 0; k < expected_; ++k) {
    for (MPI_Request* const request : {&incoming_[k].first, &incoming_[k].rest}) {
      if (*request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(request);
      MPI_Wait(request, MPI_STATUS_IGNORE);
    }
  }
  bool const under_way = std::ranges::any_of(sends_, [](MPI_Request r) { return r != MPI_REQUEST_NULL; });
  for (MPI_Request& request : sends_) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  sends_.clear();
  if (!under_way) return;
  ways_.leave_behind();
  for (outgoing& o : outgoing_) abandoned_.push_back(std::move(o));
  outgoing_.clear();
}

void endpoint::expect(rank_t from, std::span<piece const> into) {
  if (expected_ == incoming_.size()) incoming_.emplace_back();
  incoming& m = incoming_[expected_++];
  m.into.assign(into.begin(), into.end());
  m.bytes = total(into);
  m.from = from;
  m.known = state::awaited;
  m.rest_is_awaited = false;
  m.opening.resize(opening_bytes);
  address const way = ways_.from(from, self_, channel_);
  require(
      MPI_Irecv(m.opening.data(), static_cast<int>(opening_bytes), MPI_BYTE, way.process, way.tag, way.lane, &m.first),
      "MPI_Irecv");
}

/// Only after its envelope has been checked: a receive that is too short for its message cannot be taken back.
void endpoint::receive_rest(incoming& m) {
  address const way = ways_.from(m.from, self_, channel_);
  bool const direct = m.into.size() == 1;
  if (!direct) m.packed.resize(m.bytes);
  require(MPI_Irecv(direct ? m.into[0].data : m.packed.data(), checked_length(m.bytes), MPI_BYTE, way.process,
                    way.rest_tag, way.lane, &m.rest),
          "MPI_Irecv");
  m.rest_is_awaited = true;
}

void endpoint::send(rank_t to, envelope const& opening, std::span<piece const> from) {
  if (sent_ == outgoing_.size()) outgoing_.emplace_back();
  outgoing& m = outgoing_[sent_++];
  std::size_t const bytes = total(from), with_opening = is_short(bytes) ? bytes : 0;
  address const way = ways_.to(self_, to, channel_);
  m.opening.resize(sizeof opening + with_opening);
  std::memcpy(m.opening.data(), &opening, sizeof opening);
  if (is_short(bytes)) pack(from, m.opening.data() + sizeof opening);
  require(MPI_Isend(m.opening.data(), checked_length(m.opening.size()), MPI_BYTE, way.process, way.tag, way.lane,
                    &sends_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
  if (is_short(bytes)) return;
  std::byte const* data = from[0].data;
  if (from.size() > 1) {
    m.packed.resize(bytes);
    pack(from, m.packed.data());
    data = m.packed.data();
  }
  require(MPI_Isend(data, checked_length(bytes), MPI_BYTE, way.process, way.rest_tag, way.lane,
                    &sends_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
}

bool endpoint::is_done(MPI_Request& request) {
  int done = 0;
  require(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

endpoint::state endpoint::look(std::size_t message) {
  incoming& m = incoming_[message];
  if (m.known == state::awaited && is_done(m.first)) {
    m.known = state::opened;
    if (is_short(m.bytes)) {
      unpack(m.opening.data() + sizeof(envelope), m.into);
      m.known = state::here;
    }
    return m.known;  // the rest is looked at after the envelope has been checked
  }
  if (m.known == state::opened && !m.rest_is_awaited) receive_rest(m);
  if (m.known == state::opened && is_done(m.rest)) {
    if (m.into.size() > 1) unpack(m.packed.data(), m.into);
    m.known = state::here;
  }
  return m.known;
}

envelope const& endpoint::envelope_of(std::size_t message) const {
  return *reinterpret_cast<envelope const*>(incoming_[message].opening.data());
}

bool endpoint::all_sent() {
  if (sends_.empty()) return true;
  int done = 0;
  require(MPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
  if (done != 0) sends_.clear();
  return done != 0;
}

std::byte* endpoint::room(std::uint32_t slice, std::size_t bytes) {
  if (offloads_.size() <= slice) offloads_.resize(slice + 1);
  auto& one = offloads_[slice];
  if (!one) one = std::make_unique<offloaded_allreduce>();
  return one->room(bytes);
}

void endpoint::offload(std::uint32_t slice, detail::reduction_table const& reduction, detail::form what,
                       std::size_t count) {
  offloads_[slice]->begin(ways_.circle(slice, channel_), reduction, what, count);
  ways_.note_offload(slice, channel_, true);
}

std::byte const* endpoint::offloaded(std::uint32_t slice) {
  offloaded_allreduce& one = *offloads_[slice];
  if (!one.is_done()) return nullptr;
  ways_.note_offload(slice, channel_, false);
  return one.room(0);
}

}  // namespace coset::mpi
