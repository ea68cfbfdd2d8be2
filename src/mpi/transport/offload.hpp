// SPDX-License-Identifier: Apache-2.0
// Reductions left to the MPI library: MPI_Iallreduce with coset's folds, among the combiners of the domains.
#pragma once

#include <optional>
#include <vector>

#include "mpi/transport/calls.hpp"
#include "runtime/transport/messages.hpp"

namespace coset::inline COSET_ABI::mpi {

/// A communicator for each slice and channel: operations on one begin in the same order everywhere, as MPI requires.
class circles {
 public:
  circles() = default;
  /// [slice][domain]: the process that takes part in the offloads of a slice.
  explicit circles(std::vector<std::vector<int>> members);
  /// Collective over all processes, afterwards and once.
  void open(communicator const& all);

  std::vector<std::vector<int>> const& members() const noexcept { return members_; }
  MPI_Comm of(std::uint32_t slice, std::uint32_t channel) const;
  /// Collective: replaces the communicators of a slice and the channels of these bits. Operations on the old ones that
  /// not every process has begun can never end: the old ones are left to MPI.
  void make_anew(communicator const& all, std::uint32_t slice, std::uint32_t channels);

 private:
  std::vector<std::vector<int>> members_;
  std::vector<std::vector<communicator>> made_;  ///< [slice][channel]
};

/// One slice's offloads of one channel, one after the other.
class offloaded_allreduce {
 public:
  offloaded_allreduce() = default;
  offloaded_allreduce(offloaded_allreduce const&) = delete;
  offloaded_allreduce& operator=(offloaded_allreduce const&) = delete;

  std::byte* room(std::size_t bytes);
  void begin(MPI_Comm among, runtime::offloaded_items const&, std::size_t count);
  bool is_done();
  bool under_way() const noexcept { return request_ != MPI_REQUEST_NULL; }

 private:
  std::vector<std::byte> room_;
  std::optional<runtime::offloaded_items> of_;  ///< what the folds that MPI calls find by their datatype
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace coset::mpi
