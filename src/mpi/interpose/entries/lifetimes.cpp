// SPDX-License-Identifier: Apache-2.0
// The beginning and the end of MPI, and of what the layer remembers of MPI's handles.
#include "mpi/interpose/entries/entries.hpp"

using namespace coset::interpose;

namespace {

void begin_layer() {
  inside const layer;
  learn_datatypes();
  begin_attachments();
}

}  // namespace

/// Teams need to know which thread is the main one: MPI_THREAD_FUNNELED, which costs nothing.
COSET_ENTRY(Init, (int* argc, char*** argv), {
  int level;
  int const code = real.Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
  if (code == MPI_SUCCESS && !is_inside) begin_layer();
  return code;
})

COSET_ENTRY(Init_thread, (int* argc, char*** argv, int wanted, int* level), {
  int const at_least = wanted == MPI_THREAD_SINGLE ? MPI_THREAD_FUNNELED : wanted;
  int const code = real.Init_thread(argc, argv, at_least, level);
  if (code == MPI_SUCCESS && !is_inside) begin_layer();
  return code;
})

COSET_ENTRY(Finalize, (), {
  if (!is_inside) {
    inside const layer;
    end_attachments();
    end_flights();
    forget_datatypes();
    log_summary();
  }
  inside const layer;
  return real.Finalize();
})

COSET_ENTRY(Start, (MPI_Request* request), {
  int code = MPI_SUCCESS;
  if (!is_inside && begin_persistent(*request, code)) return code;
  return real.Start(request);
})

COSET_ENTRY(Startall, (int count, MPI_Request requests[]), {
  if (is_inside) return real.Startall(count, requests);
  for (int i = 0; i < count; ++i) {
    if (int const code = MPI_Start(&requests[i]); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
})

COSET_ENTRY(Request_free, (MPI_Request* request), {
  if (!is_inside) forget_persistent(*request);
  return real.Request_free(request);
})

/// What is in flight still needs it.
COSET_ENTRY(Op_free, (MPI_Op* operation), {
  if (is_inside || none_in_flight()) {
    forget_operation(*operation);
    return real.Op_free(operation);
  }
  when_landed([kept = *operation]() mutable {
    forget_operation(kept);
    real.Op_free(&kept);
  });
  *operation = MPI_OP_NULL;
  return MPI_SUCCESS;
})

COSET_ENTRY(Type_free, (MPI_Datatype* type), {
  if (is_inside || none_in_flight()) {
    forget_operations_on(*type);
    return real.Type_free(type);
  }
  when_landed([kept = *type]() mutable {
    forget_operations_on(kept);
    real.Type_free(&kept);
  });
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
})
