// SPDX-License-Identifier: Apache-2.0
#include "mpi/transport/calls.hpp"

#include <pthread.h>

#include "runtime/memory/waiting.hpp"
#include "text/format.hpp"

namespace coset::inline COSET_ABI::mpi {

namespace {

constinit bool initialized_before_fork = false;

[[gnu::constructor]] void watch_forks() {
  pthread_atfork(nullptr, nullptr, [] { initialized_before_fork = initialized_before_fork || is_initialized(); });
}

void meet_all(MPI_Comm of, std::function<void()> const& meanwhile) {
  MPI_Request all_are_here;
  require(MPI_Ibarrier(of, &all_are_here), "MPI_Ibarrier");
  await(all_are_here, {}, "all processes", meanwhile);
}

}  // namespace

void require(int code, char const* call) {
  if (code == MPI_SUCCESS) [[likely]]
    return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  throw error(text::format("{}: {}", call, std::string_view(text, static_cast<std::size_t>(length))));
}

bool is_initialized() noexcept {
  int is = 0;
  MPI_Initialized(&is);
  return is != 0;
}

bool is_finalized() noexcept {
  int is = 0;
  MPI_Finalized(&is);
  return is != 0;
}

bool is_of_parent() noexcept { return initialized_before_fork; }

communicator::communicator(MPI_Comm own) : own_(own) {
  if (own_ != MPI_COMM_NULL) MPI_Comm_set_errhandler(own_, MPI_ERRORS_RETURN);
}

communicator::~communicator() {
  if (own_ != MPI_COMM_NULL) MPI_Comm_free(&own_);
}

communicator communicator::duplicate_of(MPI_Comm of, std::function<void()> const& meanwhile) {
  if (meanwhile) meet_all(of, meanwhile);
  // Not MPI_Comm_dup(), which would copy the program's attributes, by functions of the program's.
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  require(MPI_Comm_group(of, &all), "MPI_Comm_group");
  int const code = MPI_Comm_create(of, all, &made);
  MPI_Group_free(&all);
  require(code, "MPI_Comm_create");
  return communicator(made);
}

communicator communicator::host_of(MPI_Comm of) {
  MPI_Comm made = MPI_COMM_NULL;
  require(MPI_Comm_split_type(of, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made), "MPI_Comm_split_type");
  return communicator(made);
}

communicator communicator::part_of(MPI_Comm whole, bool belongs, int place) {
  MPI_Comm made = MPI_COMM_NULL;
  require(MPI_Comm_split(whole, belongs ? 0 : MPI_UNDEFINED, place, &made), "MPI_Comm_split");
  return communicator(made);
}

int communicator::rank() const {
  int rank = 0;
  require(MPI_Comm_rank(own_, &rank), "MPI_Comm_rank");
  return rank;
}

int communicator::size() const {
  int size = 0;
  require(MPI_Comm_size(own_, &size), "MPI_Comm_size");
  return size;
}

void meet(communicator const& all) { meet_all(all.get(), {}); }

void await(MPI_Request request, patience longest, char const* what, std::function<void()> const& meanwhile) {
  using clock = std::chrono::steady_clock;
  auto const begin = clock::now();
  // The slowest process may compute for hours before it arrives here.
  runtime::backing_off back_off(runtime::patience::of_polling());
  for (int done = 0;;) {
    require(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    if (meanwhile) meanwhile();
    if (longest.count() != 0 && clock::now() - begin > longest) {
      throw error(text::format("waited for {} for {} ms", what,
                               std::chrono::duration_cast<std::chrono::milliseconds>(longest).count()));
    }
    back_off(false);
  }
}

}  // namespace coset::mpi
