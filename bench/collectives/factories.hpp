// SPDX-License-Identifier: Apache-2.0
// Who is in this folder: one factory per rival, each for one rank on each of the processors.
#pragma once

#include "command/measure/harness/contestant.hpp"

namespace coset::measure {

class openmp_region;

std::unique_ptr<contestant> make_omp_copies(std::shared_ptr<openmp_region>);
std::unique_ptr<contestant> make_omp_ips(std::shared_ptr<openmp_region>);
std::unique_ptr<contestant> make_omp_private(std::shared_ptr<openmp_region>);
std::unique_ptr<contestant> make_omp_push(std::shared_ptr<openmp_region>);
std::unique_ptr<contestant> make_omp_push_stream(std::shared_ptr<openmp_region>);
std::unique_ptr<contestant> make_omp_shared(std::shared_ptr<openmp_region>);
std::unique_ptr<contestant> make_omp_reduction(std::shared_ptr<openmp_region>);
std::unique_ptr<contestant> make_omp_by_hand(std::shared_ptr<openmp_region>);
std::unique_ptr<contestant> make_std_barrier(std::vector<unsigned> const& processors);
std::unique_ptr<contestant> make_std_push(std::vector<unsigned> const& processors);
contestants make_flags(verb, std::vector<unsigned> const& processors);

/// Whole families, where the build has found their libraries: else these say false and throw.
bool omp_is_there();
contestants make_omp(verb, std::vector<unsigned> const& processors);
bool tbb_is_there();
contestants make_tbb(verb, std::vector<unsigned> const& processors);
inline bool shares_the_result(verb what) { return what == verb::reduce_shared || what == verb::allreduce_view; }

/// Processes and messages, where the build has found an MPI.
bool mpi_is_there();
std::unique_ptr<contestant> make_mpi(std::vector<unsigned> const& processors);

class tbb_arena;

std::unique_ptr<contestant> make_tbb_ets(std::shared_ptr<tbb_arena>);
std::unique_ptr<contestant> make_tbb_push(std::shared_ptr<tbb_arena>);
std::unique_ptr<contestant> make_tbb_push_stream(std::shared_ptr<tbb_arena>);
std::unique_ptr<contestant> make_tbb_reduce(std::shared_ptr<tbb_arena>);

}  // namespace coset::measure
