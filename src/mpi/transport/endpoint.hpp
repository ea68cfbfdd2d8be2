// SPDX-License-Identifier: Apache-2.0
// Messages by MPI: the beginning travels with the envelope, the rest in parts after it.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "mpi/transport/offload.hpp"
#include "runtime/transport/messages.hpp"

namespace coset::inline COSET_ABI::mpi {

/// The address of another rank's proxy, or the address at which that proxy reaches this one.
struct address {
  MPI_Comm lane;
  int process;
  int tag;       ///< of openings: an envelope, and the beginning of its message
  int rest_tag;  ///< of the parts that follow
};

/// Finds the lanes of messages between two ranks, and the combiners.
class directory {
 public:
  virtual ~directory() = default;
  virtual MPI_Comm circle(std::uint32_t slice, std::uint32_t channel) const = 0;
  /// An offload of this process has begun, or has been seen to end.
  virtual void note_offload(std::uint32_t slice, std::uint32_t channel, bool under_way) const noexcept = 0;
  virtual address to(rank_t sender, rank_t receiver, std::uint32_t channel) const = 0;
  virtual address from(rank_t sender, rank_t receiver, std::uint32_t channel) const = 0;
  /// A message is given up that MPI may still read, in staging or in an endpoint: both have to stay for good.
  virtual void leave_behind() const noexcept = 0;
  /// So much of a message travels with its envelope; the same on all processes.
  virtual std::size_t with_envelope() const noexcept = 0;
};

/// No more than MPI sends at once.
std::size_t most_with_envelope();

class endpoint final : public runtime::endpoint {
 public:
  endpoint(directory const& ways, rank_t self, std::uint32_t channel) : ways_(ways), self_(self), channel_(channel) {}
  ~endpoint() override;

  void begin() override;
  void expect(rank_t from, std::span<runtime::piece const> into) override;
  void send(rank_t to, runtime::envelope const&, std::span<runtime::piece const> from) override;
  state look(std::size_t message) override;
  runtime::envelope const& envelope_of(std::size_t message) const override;
  bool all_sent() override;
  std::byte* room(std::uint32_t slice, std::size_t bytes) override;
  void offload(std::uint32_t slice, runtime::offloaded_items const&, std::size_t count) override;
  std::byte const* offloaded(std::uint32_t slice) override;

 private:
  using buffer = std::vector<std::byte>;

  struct incoming {
    std::vector<runtime::piece> into;
    std::size_t bytes = 0;
    std::unique_ptr<std::byte[]> opening;
    buffer packed;  ///< the rest, for several places; for one, its last part
    MPI_Request first = MPI_REQUEST_NULL;
    std::vector<MPI_Request> rest;
    std::size_t known_rest = 0;  ///< so many of these have ended
    std::size_t direct = 0;      ///< bytes of the rest that go where they belong
    state known = state::awaited;
  };
  struct outgoing {
    buffer opening, packed;
  };

  std::size_t opening_bytes() const { return sizeof(runtime::envelope) + ways_.with_envelope(); }
  void receive_rest(incoming&, address const&);
  void unpack_all(incoming&);
  void send_rest(outgoing&, address const&, std::span<runtime::piece const> from, std::size_t bytes);
  void give_up() noexcept;

  directory const& ways_;
  rank_t const self_;
  std::uint32_t const channel_;
  std::deque<incoming> incoming_;  ///< only grows: buffers are reused
  std::deque<outgoing> outgoing_;
  std::size_t expected_ = 0, sent_ = 0;
  std::vector<MPI_Request> sends_;
  std::size_t known_sends_ = 0;                                 ///< so many of these have ended
  std::deque<outgoing> abandoned_;                              ///< MPI may still read these
  std::vector<std::unique_ptr<offloaded_allreduce>> offloads_;  ///< [slice]
};

}  // namespace coset::mpi
