// SPDX-License-Identifier: Apache-2.0
#include "mpi/residents.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "mpi/pool/pool.hpp"
#include "numa/process/fork.hpp"

namespace coset::inline COSET_ABI::mpi {

/// Never destroyed, as teams may be destroyed later than a static object.
class list_of_residents {
 public:
  explicit list_of_residents(std::uint32_t process) noexcept : process_(process) {}

  void enter(resident& newcomer) noexcept {
    std::lock_guard const lock(mutex_);
    newcomer.earlier_ = std::exchange(latest_, &newcomer);
  }
  void leave(resident& leaver) noexcept {
    std::lock_guard const lock(mutex_);
    for (resident** at = &latest_; *at != nullptr; at = &(*at)->earlier_) {
      if (*at != &leaver) continue;
      *at = leaver.earlier_;
      return;
    }
  }
  /// Null if there is none.
  resident* take_latest() noexcept {
    std::lock_guard const lock(mutex_);
    resident* const taken = latest_;
    if (taken != nullptr) latest_ = taken->earlier_;
    return taken;
  }
  void attend_all() noexcept {
    std::lock_guard const lock(mutex_);
    for (resident* each = latest_; each != nullptr; each = each->earlier_) each->attend();
  }
  bool is_of_this_process() const noexcept { return process_ == numa::process_number(); }

 private:
  std::uint32_t const process_;
  std::mutex mutex_;
  resident* latest_ = nullptr;
};

namespace {

list_of_residents& residents() {
  alignas(list_of_residents) static std::byte room[sizeof(list_of_residents)];
  static auto& all = *new (room) list_of_residents(numa::process_number());
  return all;
}

/// The latest first, as scopes end. In a forked child they are its parent's.
int end_all(MPI_Comm, int, void*, void*) {
  if (!residents().is_of_this_process()) return MPI_SUCCESS;
  while (resident* const latest = residents().take_latest()) latest->end_with_mpi();
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
  static std::mutex arranging;
  static bool end_is_arranged = false;
  {
    std::lock_guard const lock(arranging);
    if (!end_is_arranged && is_initialized()) {
      end_all_at_finalize();
      end_is_arranged = true;
    }
  }
  residents().enter(*this);
}

void resident::leave() noexcept { residents().leave(*this); }

void attend_all_residents() noexcept { residents().attend_all(); }

}  // namespace coset::mpi
