// SPDX-License-Identifier: Apache-2.0
// LightGBM's network over coset: its "machines" are threads of one process or of several, and this is what they exchange
// histograms and splits by. A program that trains with LightGBM writes, on each thread,
//
//   over_coset::machine const here(team, rank);
//   LGBM_NetworkInitWithFunctions(here.size(), here.rank(), reinterpret_cast<void*>(over_coset::reduce_scatter),
//                                 reinterpret_cast<void*>(over_coset::allgather));
//
// and trains; LGBM_NetworkFree() ends it. Over processes the machines are the members of a coset::mpi::team, see
// processes.cpp. The types below are those of LightGBM/meta.h, whose headers are not needed.
#pragma once

#include <coset/coset.h>

#include <cstdint>

namespace over_coset {

/// Of lengths and places, in bytes.
using comm_size_t = std::int32_t;

/// output[i] ∘= input[i] for elements of `type_size` bytes; `array_size` is in bytes too.
using ReduceFunction = void (*)(char const* input, char* output, int type_size, comm_size_t array_size);

/// The calling thread is a machine as long as this is there. One at a time per thread. Throws std::runtime_error.
class machine {
 public:
  /// Joins the team, which was adopted with as many ranks as there are machines.
  machine(coset_team*, int rank);
  /// What is a rank already, in the body of a team that runs.
  explicit machine(coset_member*);
  ~machine();  ///< aborts the team if an exception destroys it, so that no machine waits; run() does so for bodies
  machine(machine const&) = delete;
  machine& operator=(machine const&) = delete;

  int rank() const noexcept;
  int size() const noexcept;

 private:
  coset_team* team_ = nullptr;  ///< that was joined
  coset_member* me_ = nullptr;
  int exceptions_ = 0;
};

/// `output` gets block number rank() of `input`, reduced over all machines; `input` holds garbage afterwards if it
/// overlaps `output`. Blocks lie one after the other, block_start being where, and may be empty; their lengths are
/// multiples of type_size. Throws std::runtime_error on every machine if one of them calls it wrongly.
void reduce_scatter(char* input, comm_size_t input_size, int type_size, comm_size_t const* block_start,
                    comm_size_t const* block_len, int num_block, char* output, comm_size_t output_size,
                    ReduceFunction const& reducer);

/// `output` gets all machines' blocks; `input` is this one's, of block_len[rank()] bytes, in `output` or apart.
void allgather(char* input, comm_size_t input_size, comm_size_t const* block_start, comm_size_t const* block_len,
               int num_block, char* output, comm_size_t output_size);

}  // namespace over_coset
