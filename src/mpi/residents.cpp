// SPDX-License-Identifier: Apache-2.0
#include "mpi/residents.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "mpi/pool/pool.hpp"
#include "numa/process/fork.hpp"

namespace coset::inline COSET_ABI::mpi {
namespace {

struct list {
  std::uint32_t const process = numa::process_number();
  std::mutex mutex;
  std::vector<resident*> present;  ///< in the order in which they entered
};

/// Never destroyed, as teams may be destroyed later than a static object.
list& residents() {
  static auto& all = *new list;
  return all;
}

/// The latest first, as scopes end. In a forked child they are its parent's.
int end_all(MPI_Comm, int, void*, void*) {
  if (residents().process != numa::process_number()) return MPI_SUCCESS;
  for (;;) {
    resident* latest = nullptr;
    {
      std::lock_guard const lock(residents().mutex);
      if (residents().present.empty()) break;
      latest = residents().present.back();
      residents().present.pop_back();
    }
    latest->end_with_mpi();
  }
  close_all_pools();
  return MPI_SUCCESS;
}

/// MPI_Finalize frees MPI_COMM_SELF first, and this attribute with it. Sessions have neither.
void end_all_at_finalize() {
  int key = MPI_KEYVAL_INVALID;
  require(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_all, &key, nullptr), "MPI_Comm_create_keyval");
  require(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  require(MPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");
}

}  // namespace

void resident::enter() {
  std::lock_guard const lock(residents().mutex);
  static bool end_is_arranged = false;
  if (!end_is_arranged && is_initialized()) {
    end_all_at_finalize();
    end_is_arranged = true;
  }
  residents().present.push_back(this);
}

void resident::leave() noexcept {
  std::lock_guard const lock(residents().mutex);
  std::erase(residents().present, this);
}

void attend_all_residents() noexcept {
  std::lock_guard const lock(residents().mutex);
  for (resident* const each : residents().present) each->attend();
}

}  // namespace coset::mpi
