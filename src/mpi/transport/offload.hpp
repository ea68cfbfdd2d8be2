// SPDX-License-Identifier: Apache-2.0
// Reductions left to the MPI library: MPI_Iallreduce by coset's folds, among those that take part for their domains.
#pragma once

#include <vector>

#include "coset/detail/reduction.hpp"
#include "mpi/transport/calls.hpp"

namespace coset::mpi {

/// A communicator for each slice and channel: what meets in one begins in the same order everywhere, as MPI wants it.
class circles {
 public:
  circles() = default;
  /// Collective over all processes. [slice][domain]: the process that takes part in the offloads of a slice.
  circles(communicator const& all, std::vector<std::vector<int>> members);

  MPI_Comm of(std::uint32_t slice, std::uint32_t channel) const;
  /// Collective: those of a slice and the channels of these bits. What was begun in the old ones, and not by everybody,
  /// can never end: they are left to MPI.
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
  void begin(MPI_Comm among, detail::reduction_table const&, detail::form, std::size_t count);
  bool is_done();
  bool under_way() const noexcept { return request_ != MPI_REQUEST_NULL; }

  /// What the folds that MPI calls find with their datatype.
  struct items {
    detail::reduction_table const* reduction;
    detail::form what;
  };

 private:
  std::vector<std::byte> room_;
  items of_{};
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace coset::mpi
