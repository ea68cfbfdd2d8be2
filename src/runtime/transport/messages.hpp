// SPDX-License-Identifier: Apache-2.0
// What the executor needs of a transport between ranks that share no memory: src/mpi, or a test.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "coset/error.hpp"
#include "planning/program/program.hpp"
#include "runtime/modes/floating_point_mode.hpp"

namespace coset::inline COSET_ABI::detail {
struct rank_state;
}  // namespace coset::detail

namespace coset::runtime {

struct flight;

/// Which operation a message belongs to, and what its sender takes that for. Every message begins with one.
struct envelope {
  std::uint64_t tag;    ///< as in entry lines: epoch << 32 | signature hash
  std::uint64_t count;  ///< these, and `kind`, as in described_signature: it names common types and operations
  std::uint64_t rest;
  rank_t sender;
  std::uint32_t kind;
};
static_assert(sizeof(envelope) == 32);

/// Some bytes of a message, in staging. The pieces of one message usually lie side by side.
struct piece {
  std::byte* data;
  std::size_t bytes;
};

/// What is combined in an offload, by which reduction, and in which mode, on whatever thread.
struct offloaded_items {
  detail::reduction_table const* reduction;
  detail::form what;
  floating_point_mode mode;
};

/// One proxy's messages of one channel. Only that rank's thread uses it, for one operation at a time: first it names
/// what it expects, then it sends and looks, in the end all has come and `all_sent()`.
class endpoint {
 public:
  enum class state : std::uint8_t {
    awaited,
    opened,  ///< its envelope is there
    here     ///< all of it is where it belongs
  };

  virtual ~endpoint() = default;
  /// Before the first expect() of an operation. Whatever an operation before it left unfinished, having failed, is
  /// given up.
  virtual void begin() = 0;
  /// The next message that this rank receives from `from`, in the order in which `from` sends them here. The pieces may
  /// be written from now on until the message has arrived.
  virtual void expect(rank_t from, std::span<piece const> into) = 0;
  /// The pieces stay as they are until all_sent().
  virtual void send(rank_t to, envelope const&, std::span<piece const> from) = 0;
  /// The state of an expected message, numbered from 0 since begin(). Progresses messages.
  virtual state look(std::size_t message) = 0;
  /// The envelope of a message that has been opened.
  virtual envelope const& envelope_of(std::size_t message) const = 0;
  virtual bool all_sent() = 0;

  /// Room for what this rank brings to the offload of a slice, aligned as malloc() does. There is one for each
  /// slice, used again and again.
  virtual std::byte* room(std::uint32_t slice, std::size_t bytes) = 0;
  /// Combines the `count` items of that room with those of the other domains' combiners of the slice, in the order of
  /// the domains; all of them combine as many by the same reduction, which is standalone. Its bits may differ between
  /// them.
  virtual void offload(std::uint32_t slice, offloaded_items const&, std::size_t count) = 0;
  /// What has come of it, in that room; null while it is under way. Progresses.
  virtual std::byte const* offloaded(std::uint32_t slice) = 0;
};

/// What splits of a team have to know of its transport.
struct rules_of_parts {
  bool any_rank_sends;               ///< else only the first of each process
  rank_t receivers_apart;            ///< so many ranks of a process receive under one number
  std::uint32_t numbers_told_apart;  ///< numbers of parts are the same where they differ by that
  std::size_t longest_message;       ///< in bytes
};

/// Ranks of a team that are a team of their own.
struct part_of_team {
  std::uint32_t number;          ///< none of its ranks is or was in another part of that number
  std::vector<rank_t> in_whole;  ///< [rank of the part]: its number in the team
  program::distribution spread;
};

/// What joins a team's domains. Any of its functions may throw mpi::error.
class transport {
 public:
  virtual ~transport() = default;
  virtual std::unique_ptr<endpoint> open(rank_t proxy, std::uint32_t channel) = 0;
  /// Called by ranks that wait, now and then: learns whether other domains have failed, and fails this one then, if the rank
  /// may receive.
  virtual void progress(detail::rank_state& waiter) = 0;
  /// Called by proxies that have waited for a message of `peer` for a while: has that rank left without a word? Whoever
  /// listens there fails the team if it has.
  virtual void ask(detail::rank_state& proxy, flight const&, rank_t peer) = 0;
  /// Called by ranks that leave because the team has failed: other domains have to know, if this rank may send.
  virtual void tell_failure(detail::rank_state& leaver) noexcept = 0;
  /// How long a rank waits for one word of others; zero: for ever.
  virtual std::chrono::nanoseconds deadline() const noexcept = 0;
  /// Where a rank is, for people: "process 2 on host b". Any thread may ask; empty: nobody knows.
  virtual std::string place_of(rank_t) const { return {}; }
  /// A message was given up that may still be read: what it was sent from has to stay.
  virtual bool has_left_behind() const noexcept = 0;

  virtual rules_of_parts rules() const noexcept = 0;
  /// For a part of the team, which is over before this is. Needs no other process.
  virtual std::unique_ptr<transport> open_part(part_of_team const&) = 0;
};

}  // namespace coset::runtime
