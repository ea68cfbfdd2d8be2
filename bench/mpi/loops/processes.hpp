// SPDX-License-Identifier: Apache-2.0
// The processes, as programs without coset see them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace coset::measure {

/// MPI is initialised during the life of this object. All of it is collective.
class processes {
 public:
  /// Of so many OpenMP threads each. Throws argument_error on every process if these numbers differ.
  explicit processes(std::size_t threads);
  ~processes();
  processes(processes const&) = delete;
  processes& operator=(processes const&) = delete;

  std::size_t threads() const { return threads_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  int hosts() const { return hosts_; }
  bool some_share_a_host() const { return hosts_ < size_; }
  bool is_first() const { return rank_ == 0; }
  bool leads() const { return leaders_ != MPI_COMM_NULL; }
  bool every_thread_may_call() const { return level_ == MPI_THREAD_MULTIPLE; }

  MPI_Comm host() const { return host_; }        ///< the processes of this host
  MPI_Comm leaders() const { return leaders_; }  ///< the first process of each host, null on others
  /// One for each thread, in which it alone calls; made when first asked for.
  std::vector<MPI_Comm> const& of_threads();

  void wait_for_all() const { MPI_Barrier(MPI_COMM_WORLD); }
  /// Each as large as it is on any process.
  void take_largest(std::vector<double>&) const;
  /// The sum over all processes.
  std::size_t sum(std::size_t) const;

 private:
  std::size_t threads_;
  int level_ = 0, rank_ = 0, size_ = 1, hosts_ = 1;
  MPI_Comm host_ = MPI_COMM_NULL, leaders_ = MPI_COMM_NULL;
  std::vector<MPI_Comm> of_threads_;
};

/// The sum over `of`, which may be null: then there is nobody to add.
void sum_in_place(double* array, std::size_t count, MPI_Comm of);

}  // namespace coset::measure
