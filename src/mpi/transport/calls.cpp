// SPDX-License-Identifier: Apache-2.0
#include "mpi/transport/calls.hpp"

#include <pthread.h>

#include <limits>
#include <new>
#include <string_view>

#include "runtime/memory/waiting.hpp"

namespace coset::inline COSET_ABI::mpi {
namespace {

using runtime::words;

constinit bool initialized_before_fork = false;

[[gnu::constructor]] void watch_forks() {
  pthread_atfork(nullptr, nullptr, [] { initialized_before_fork = initialized_before_fork || is_initialized(); });
}

void meet_all(MPI_Comm of, std::function<void()> const& meanwhile) {
  MPI_Request all_are_here;
  require(MPI_Ibarrier(of, &all_are_here), "MPI_Ibarrier");
  await(all_are_here, {}, "all processes", meanwhile);
}

bool is_short_of_memory(std::exception_ptr const& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (std::bad_alloc const&) {
    return true;
  } catch (out_of_memory const&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

void fail(words const& why) {
  char const* const text = std::string_view(why).data();
  try {
    throw error(text);
  } catch (std::bad_alloc const&) {
    throw out_of_memory(text);
  }
}

char const* said_by(std::exception_ptr const& thrown) noexcept {
  try {
    std::rethrow_exception(thrown);
  } catch (std::bad_alloc const&) {
    return "no memory";
  } catch (std::exception const& other) {
    return other.what();
  }
}

void rethrow(std::exception_ptr const& thrown, words const& where_memory_is_short) try {
  std::rethrow_exception(thrown);
} catch (std::bad_alloc const&) {
  throw out_of_memory(std::string_view(where_memory_is_short).data());
}

void require(int code, char const* call) {
  if (code == MPI_SUCCESS) [[likely]]
    return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  fail(words("%s: %.*s", call, length, text));
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
      fail(words("waited for %s for %lld ms", what,
                 static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(longest).count())));
    }
    back_off(false);
  }
}

void require_all_well(communicator const& all, std::exception_ptr const& thrown, char const* what) {
  constexpr int none = std::numeric_limits<int>::max();
  int const self = all.rank();
  int const mine = thrown ? 2 * self + (is_short_of_memory(thrown) ? 1 : 0) : none;
  int const first = reduce_over_all(all, mine, MPI_INT, MPI_MIN);
  if (thrown) rethrow(thrown, words("process %d %s: no memory", self, what));
  if (first != none) fail(words("process %d %s%s", first / 2, what, first % 2 != 0 ? ": no memory" : ""));
}

}  // namespace coset::mpi
