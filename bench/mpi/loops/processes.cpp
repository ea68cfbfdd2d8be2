// SPDX-License-Identifier: Apache-2.0
#include "bench/mpi/loops/processes.hpp"

#include <fmt/format.h>

#include "coset/error.hpp"

namespace coset::measure {
namespace {

int initialised() {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  return level;
}

}  // namespace

processes::processes(std::size_t threads) : threads_(threads), level_(initialised()) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  std::vector<double> range = {static_cast<double>(threads), -static_cast<double>(threads)};
  take_largest(range);
  if (range[0] != -range[1])
    throw argument_error(fmt::format("processes have {} to {} threads, but need equally many", -range[1], range[0]));
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host_);
  int here = 0;
  MPI_Comm_rank(host_, &here);
  MPI_Comm_split(MPI_COMM_WORLD, here == 0 ? 0 : MPI_UNDEFINED, 0, &leaders_);
  hosts_ = static_cast<int>(sum(here == 0 ? 1 : 0));
}

processes::~processes() {
  for (MPI_Comm& each : of_threads_) MPI_Comm_free(&each);
  if (leads()) MPI_Comm_free(&leaders_);
  if (host_ != MPI_COMM_NULL) MPI_Comm_free(&host_);
  MPI_Finalize();
}

std::vector<MPI_Comm> const& processes::of_threads() {
  while (of_threads_.size() < threads_) MPI_Comm_dup(MPI_COMM_WORLD, &of_threads_.emplace_back());
  return of_threads_;
}

void processes::take_largest(std::vector<double>& own) const {
  MPI_Allreduce(MPI_IN_PLACE, own.data(), static_cast<int>(own.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

std::size_t processes::sum(std::size_t own) const {
  unsigned long all = own;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

void sum_in_place(double* array, std::size_t count, MPI_Comm of) {
  if (of != MPI_COMM_NULL) MPI_Allreduce(MPI_IN_PLACE, array, static_cast<int>(count), MPI_DOUBLE, MPI_SUM, of);
}

}  // namespace coset::measure
