// SPDX-License-Identifier: Apache-2.0
#include "mpi/transport/endpoint.hpp"

#include <algorithm>
#include <cstring>

namespace coset::inline COSET_ABI::mpi {
namespace {

using runtime::envelope;
using runtime::piece;

/// MPI sends messages of some 64 KiB at once. About a longer one both sides agree first, which takes three latencies, but
/// keeps what a late receiver would have to store elsewhere with its sender. So a long message begins with short parts.
constexpr std::size_t part_bytes = 60 * 1024, short_parts = 64, long_part_bytes = 1024 * 1024;

std::size_t total(std::span<piece const> pieces) {
  std::size_t bytes = 0;
  for (piece const& p : pieces) bytes += p.bytes;
  return bytes;
}

/// Calls visit(data, bytes) for what lies in [begin, end) of the pieces.
template <class Visit>
void for_each_part(std::span<piece const> pieces, std::size_t begin, std::size_t end, Visit visit) {
  std::size_t at = 0;
  for (piece const& p : pieces) {
    std::size_t const first = std::max(begin, at), last = std::min(end, at + p.bytes);
    if (first < last) visit(p.data + (first - at), last - first);
    at += p.bytes;
  }
}

void pack(std::span<piece const> from, std::size_t begin, std::size_t end, std::byte* to) {
  for_each_part(from, begin, end, [&](std::byte const* data, std::size_t bytes) {
    std::memcpy(to, data, bytes);
    to += bytes;
  });
}

void unpack(std::byte const* from, std::span<piece const> to, std::size_t begin, std::size_t end) {
  for_each_part(to, begin, end, [&](std::byte* data, std::size_t bytes) {
    std::memcpy(data, from, bytes);
    from += bytes;
  });
}

/// Calls transfer(offset, bytes, room) for each message in which the rest travels; its room depends on its number alone.
template <class Transfer>
void for_each_message(std::size_t bytes, Transfer transfer) {
  std::size_t number = 0;
  for (std::size_t at = 0, room = 0; at < bytes; at += room) {
    room = number++ < short_parts ? part_bytes : long_part_bytes;
    transfer(at, std::min(room, bytes - at), room);
  }
}

/// From the first on that is not known to be done, as they usually end in their order.
bool are_done(std::vector<MPI_Request>& requests, std::size_t& known) {
  for (; known < requests.size(); ++known) {
    int done = 0;
    require(MPI_Test(&requests[known], &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) return false;
  }
  return true;
}

}  // namespace

std::size_t most_with_envelope() { return part_bytes - sizeof(envelope); }

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
  auto const cancel = [](MPI_Request& request) {
    if (request == MPI_REQUEST_NULL) return;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
  for (std::size_t k = 0; k < expected_; ++k) {
    cancel(incoming_[k].first);
    std::ranges::for_each(incoming_[k].rest, cancel);
    incoming_[k].rest.clear();
  }
  bool const under_way = std::ranges::any_of(sends_, [](MPI_Request r) { return r != MPI_REQUEST_NULL; });
  for (MPI_Request& request : sends_) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  sends_.clear();
  known_sends_ = 0;
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
  m.known = state::awaited;
  // All openings have one size, so that whatever comes can be read. What is not written is no memory.
  if (!m.opening) m.opening = std::make_unique_for_overwrite<std::byte[]>(opening_bytes());
  address const way = ways_.from(from, self_, channel_);
  require(
      MPI_Irecv(m.opening.get(), static_cast<int>(opening_bytes()), MPI_BYTE, way.process, way.tag, way.lane, &m.first),
      "MPI_Irecv");
  receive_rest(m, way);
}

/// Before it comes, lest MPI keeps it elsewhere. Another message may come instead, as its opening tells first: every
/// receive has room for a whole part, since MPICH ends programs whose messages do not fit.
void endpoint::receive_rest(incoming& m, address const& way) {
  m.rest.clear();
  m.known_rest = 0;
  std::size_t const before = ways_.with_envelope();
  if (m.bytes <= before) return;
  bool const direct = m.into.size() == 1;
  m.direct = 0;
  std::size_t packed = 0;
  for_each_message(m.bytes - before, [&](std::size_t at, std::size_t part, std::size_t room) {
    bool const fits = direct && part == room;
    if (fits) m.direct = at + part;
    packed = fits ? 0 : at - m.direct + room;
  });
  if (m.packed.size() < packed) m.packed.resize(packed);
  for_each_message(m.bytes - before, [&](std::size_t at, std::size_t, std::size_t room) {
    std::byte* const to = at < m.direct ? m.into[0].data + before + at : m.packed.data() + (at - m.direct);
    require(MPI_Irecv(to, static_cast<int>(room), MPI_BYTE, way.process, way.rest_tag, way.lane,
                      &m.rest.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Irecv");
  });
}

void endpoint::unpack_all(incoming& m) {
  std::size_t const before = std::min(m.bytes, ways_.with_envelope());
  unpack(m.opening.get() + sizeof(envelope), m.into, 0, before);
  if (before < m.bytes) unpack(m.packed.data(), m.into, before + m.direct, m.bytes);
}

void endpoint::send(rank_t to, envelope const& opening, std::span<piece const> from) {
  if (sent_ == outgoing_.size()) outgoing_.emplace_back();
  outgoing& m = outgoing_[sent_++];
  std::size_t const bytes = total(from), first = std::min(bytes, ways_.with_envelope());
  address const way = ways_.to(self_, to, channel_);
  m.opening.resize(sizeof opening + first);
  std::memcpy(m.opening.data(), &opening, sizeof opening);
  pack(from, 0, first, m.opening.data() + sizeof opening);
  require(MPI_Isend(m.opening.data(), static_cast<int>(m.opening.size()), MPI_BYTE, way.process, way.tag, way.lane,
                    &sends_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
  if (first < bytes) send_rest(m, way, from, bytes);
}

void endpoint::send_rest(outgoing& m, address const& way, std::span<piece const> from, std::size_t bytes) {
  std::size_t const before = ways_.with_envelope();
  std::byte const* data = from[0].data + before;
  if (from.size() > 1) {
    m.packed.resize(bytes - before);
    pack(from, before, bytes, m.packed.data());
    data = m.packed.data();
  }
  for_each_message(bytes - before, [&](std::size_t at, std::size_t part, std::size_t) {
    require(MPI_Isend(data + at, static_cast<int>(part), MPI_BYTE, way.process, way.rest_tag, way.lane,
                      &sends_.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Isend");
  });
}

endpoint::state endpoint::look(std::size_t message) {
  incoming& m = incoming_[message];
  if (m.known == state::awaited) {
    int done = 0;
    require(MPI_Test(&m.first, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) return m.known;
    m.known = state::opened;
    if (!m.rest.empty()) return m.known;  // the rest is looked at after the envelope has been checked
  }
  if (m.known == state::opened && are_done(m.rest, m.known_rest)) {
    unpack_all(m);
    m.known = state::here;
  }
  return m.known;
}

envelope const& endpoint::envelope_of(std::size_t message) const {
  return *reinterpret_cast<envelope const*>(incoming_[message].opening.get());
}

bool endpoint::all_sent() {
  if (!are_done(sends_, known_sends_)) return false;
  sends_.clear();
  known_sends_ = 0;
  return true;
}

std::byte* endpoint::room(std::uint32_t slice, std::size_t bytes) {
  if (offloads_.size() <= slice) offloads_.resize(slice + 1);
  auto& one = offloads_[slice];
  if (!one) one = std::make_unique<offloaded_allreduce>();
  return one->room(bytes);
}

void endpoint::offload(std::uint32_t slice, runtime::offloaded_items const& items, std::size_t count) {
  offloads_[slice]->begin(ways_.circle(slice, channel_), items, count);
  ways_.note_offload(slice, channel_, true);
}

std::byte const* endpoint::offloaded(std::uint32_t slice) {
  offloaded_allreduce& one = *offloads_[slice];
  if (!one.is_done()) return nullptr;
  ways_.note_offload(slice, channel_, false);
  return one.room(0);
}

}  // namespace coset::mpi
