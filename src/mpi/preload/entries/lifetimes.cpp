// SPDX-License-Identifier: Apache-2.0
// The beginning and the end of MPI, and of what the layer remembers of MPI's handles.
#include <cstdio>

#include "mpi/preload/entries/entries.hpp"
#include "mpi/preload/flights/self.hpp"

using namespace coset::interpose;

namespace {

bool has_begun = false;

void begin_layer() {
  has_begun = true;
  inside const layer;
  make_self();
  learn_datatypes();
  learn_operations();
  begin_attachments();
  begin_flights();
}

/// Before the end of a communicator: within it, MPI may hold what other threads need. Whatever MPI's own waits do: the team's end
/// does not bring on what is in flight.
void meet_of_team(MPI_Comm comm) {
  attachment* const of = attachment::known_of(comm);
  if (of == nullptr) return;
  if (!none_in_flight()) complete_all_of(*of);
  if (!of->ends_a_team() || of->size() == 1) return;
  MPI_Request request = MPI_REQUEST_NULL;
  if (real.Ibarrier(comm, &request) == MPI_SUCCESS) wait_for(request, MPI_STATUS_IGNORE);
}

/// A tool behind this library that goes on to the next definition of the same name, which is MPI's, passes this layer by.
void say_if_passed_by() noexcept {
  int rank = 0;
  if (has_begun || PMPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS || rank != 0) return;
  std::fprintf(stderr,
               "coset: %s goes on from MPI_Init to MPI's own MPI_Init, not to PMPI_Init: coset carries out nothing. "
               "Name it before "
               "libcoset_preload.so in LD_PRELOAD\n",
               name_of_tool());
}

/// `by_tool`, which ends in `ours`; without a tool `ours`.
template <class Function, class... Arguments>
int initialise(Function by_tool, Function ours, Arguments... all) {
  if (!is_for_tool(by_tool)) return ours(all...);
  int const code = by_tool(all...);
  if (code == MPI_SUCCESS) say_if_passed_by();
  return code;
}

}  // namespace

extern "C" int PMPI_Init(int* argc, char*** argv) {
  int const code = real.Init(argc, argv);
  if (code == MPI_SUCCESS && !passes_through()) begin_layer();
  return code;
}
extern "C" int MPI_Init(int* argc, char*** argv) { return initialise(tools.Init, &PMPI_Init, argc, argv); }

extern "C" int PMPI_Init_thread(int* argc, char*** argv, int wanted, int* level) {
  int const code = real.Init_thread(argc, argv, wanted, level);
  if (code == MPI_SUCCESS && !passes_through()) begin_layer();
  return code;
}
extern "C" int MPI_Init_thread(int* argc, char*** argv, int wanted, int* level) {
  return initialise(tools.Init_thread, &PMPI_Init_thread, argc, argv, wanted, level);
}

COSET_ENTRY(Finalize, (), (), {
  if (!passes_through()) {
    inside const layer;
    end_attachments();
    end_flights();
    forget_datatypes();
    free_self();
    log_summary();
  }
  inside const layer;
  return real.Finalize();
})

COSET_ENTRY(Start, (MPI_Request * request), (request), {
  int code = MPI_SUCCESS;
  if (passes_through()) return real.Start(request);
  return guarded(MPI_COMM_SELF, [&] { return begin_persistent(*request, code) ? code : real.Start(request); });
})

COSET_ENTRY(Startall, (int count, MPI_Request requests[]), (count, requests), {
  if (passes_through()) return real.Startall(count, requests);
  for (int i = 0; i < count; ++i) {
    if (int const code = PMPI_Start(&requests[i]); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
})

COSET_ENTRY(Request_free, (MPI_Request * request), (request), {
  if (!passes_through()) forget_persistent(*request);
  return real.Request_free(request);
})

/// What is in flight still needs it, and what may be started again.
COSET_ENTRY(Op_free, (MPI_Op * operation), (operation), {
  auto const is_used = [kept = *operation] { return is_operation_kept(kept); };
  auto const free_it = [kept = *operation]() mutable {
    forget_operation(kept);
    real.Op_free(&kept);
  };
  if (!passes_through() && is_put_off(is_used, free_it)) {
    *operation = MPI_OP_NULL;
    return MPI_SUCCESS;
  }
  if (!is_forked_child) forget_operation(*operation);
  return real.Op_free(operation);
})

COSET_ENTRY(Type_free, (MPI_Datatype * type), (type), {
  auto const is_used = [kept = *type] { return is_type_kept(kept); };
  auto const free_it = [kept = *type]() mutable {
    forget_operations_on(kept);
    real.Type_free(&kept);
  };
  if (!passes_through() && is_put_off(is_used, free_it)) {
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
  }
  if (!is_forked_child) forget_operations_on(*type);
  return real.Type_free(type);
})

/// Ending a team is collective: its processes meet here first, so that each can wait for the others. Most teams outlive their
/// communicators, whose end waits for nobody.
COSET_ENTRY(Comm_free, (MPI_Comm * comm), (comm), {
  if (!passes_through()) meet_of_team(*comm);
  return real.Comm_free(comm);
})

COSET_ENTRY(Comm_disconnect, (MPI_Comm * comm), (comm), {
  if (!passes_through()) meet_of_team(*comm);
  return real.Comm_disconnect(comm);
})
