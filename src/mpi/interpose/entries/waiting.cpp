// SPDX-License-Identifier: Apache-2.0
// MPI's functions that wait or look: meanwhile operations in flight go on. Those of other collectives that this layer
// leaves to MPI are begun and waited for, as other processes may not come to them before an operation in flight ends.
#include "mpi/interpose/entries/entries.hpp"

using namespace coset::interpose;

namespace {

/// Calls `look`, which says by its flag whether what MPI waits for is there, until it is.
template <class ByMpi, class Look>
int waiting(ByMpi const& by_mpi, Look const& look) {
  if (is_inside || none_in_flight()) return by_mpi();
  for (patience between;; between.look()) {
    progress();
    int flag = 0;
    int const code = look(&flag);
    if (code != MPI_SUCCESS || flag != 0) return code;
  }
}

template <class ByMpi>
int looking(ByMpi const& by_mpi) {
  if (!is_inside && !none_in_flight()) progress();
  return by_mpi();
}

}  // namespace

COSET_ENTRY(Wait, (MPI_Request* request, MPI_Status* status), {
  return waiting([&] { return real.Wait(request, status); },
                 [&](int* flag) { return real.Test(request, flag, status); });
})

COSET_ENTRY(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]), {
  return waiting([&] { return real.Waitall(count, requests, statuses); },
                 [&](int* flag) { return real.Testall(count, requests, flag, statuses); });
})

COSET_ENTRY(Waitany, (int count, MPI_Request requests[], int* which, MPI_Status* status), {
  return waiting([&] { return real.Waitany(count, requests, which, status); },
                 [&](int* flag) { return real.Testany(count, requests, which, flag, status); });
})

COSET_ENTRY(Waitsome, (int count, MPI_Request requests[], int* found, int which[], MPI_Status statuses[]), {
  return waiting([&] { return real.Waitsome(count, requests, found, which, statuses); },
                 [&](int* flag) {
                   int const code = real.Testsome(count, requests, found, which, statuses);
                   *flag = *found != 0;
                   return code;
                 });
})

COSET_ENTRY(Test, (MPI_Request* request, int* flag, MPI_Status* status), {
  return looking([&] { return real.Test(request, flag, status); });
})

COSET_ENTRY(Testall, (int count, MPI_Request requests[], int* flag, MPI_Status statuses[]), {
  return looking([&] { return real.Testall(count, requests, flag, statuses); });
})

COSET_ENTRY(Testany, (int count, MPI_Request requests[], int* which, int* flag, MPI_Status* status), {
  return looking([&] { return real.Testany(count, requests, which, flag, status); });
})

COSET_ENTRY(Testsome, (int count, MPI_Request requests[], int* found, int which[], MPI_Status statuses[]), {
  return looking([&] { return real.Testsome(count, requests, found, which, statuses); });
})

COSET_ENTRY(Request_get_status, (MPI_Request request, int* flag, MPI_Status* status), {
  return looking([&] { return real.Request_get_status(request, flag, status); });
})

COSET_ENTRY(Probe, (int source, int tag, MPI_Comm comm, MPI_Status* status), {
  return waiting([&] { return real.Probe(source, tag, comm, status); },
                 [&](int* flag) { return real.Iprobe(source, tag, comm, flag, status); });
})

COSET_ENTRY(Iprobe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status), {
  return looking([&] { return real.Iprobe(source, tag, comm, flag, status); });
})

COSET_ENTRY(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status), {
  return waiting([&] { return real.Mprobe(source, tag, comm, message, status); },
                 [&](int* flag) { return real.Improbe(source, tag, comm, flag, message, status); });
})

COSET_ENTRY(Improbe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status), {
  return looking([&] { return real.Improbe(source, tag, comm, flag, message, status); });
})

COSET_ENTRY(Recv, (void* to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status), {
  return while_in_flight([&] { return real.Recv(to, count, type, source, tag, comm, status); },
                         [&](MPI_Request* request) { return PMPI_Irecv(to, count, type, source, tag, comm, request); },
                         status);
})

COSET_ENTRY(Send, (void const* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm), {
  return while_in_flight([&] { return real.Send(from, count, type, to, tag, comm); },
                         [&](MPI_Request* request) { return PMPI_Isend(from, count, type, to, tag, comm, request); });
})

COSET_ENTRY(Ssend, (void const* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm), {
  return while_in_flight([&] { return real.Ssend(from, count, type, to, tag, comm); },
                         [&](MPI_Request* request) { return PMPI_Issend(from, count, type, to, tag, comm, request); });
})

COSET_ENTRY(Sendrecv,
            (void const* from, int count, MPI_Datatype type, int to, int tag, void* into, int in_count,
             MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Status* status),
            {
              if (is_inside || none_in_flight()) {
                return real.Sendrecv(from, count, type, to, tag, into, in_count, in_type, source, in_tag, comm, status);
              }
              MPI_Request sent = MPI_REQUEST_NULL, received = MPI_REQUEST_NULL;
              int code = PMPI_Irecv(into, in_count, in_type, source, in_tag, comm, &received);
              if (code == MPI_SUCCESS) code = PMPI_Isend(from, count, type, to, tag, comm, &sent);
              if (code == MPI_SUCCESS) code = wait_for(sent, MPI_STATUS_IGNORE);
              return code == MPI_SUCCESS ? wait_for(received, status) : code;
            })

COSET_ENTRY(Gather, (void const* in, int count, MPI_Datatype type, void* out, int out_count, MPI_Datatype out_type,
                     int root, MPI_Comm comm), {
  return while_in_flight([&] { return real.Gather(in, count, type, out, out_count, out_type, root, comm); },
                         [&](MPI_Request* request) {
                           return PMPI_Igather(in, count, type, out, out_count, out_type, root, comm, request);
                         });
})

COSET_ENTRY(Gatherv, (void const* in, int count, MPI_Datatype type, void* out, int const counts[], int const places[],
                      MPI_Datatype out_type, int root, MPI_Comm comm), {
  return while_in_flight([&] { return real.Gatherv(in, count, type, out, counts, places, out_type, root, comm); },
                         [&](MPI_Request* request) {
                           return PMPI_Igatherv(in, count, type, out, counts, places, out_type, root, comm, request);
                         });
})

COSET_ENTRY(Scatter, (void const* in, int count, MPI_Datatype type, void* out, int out_count, MPI_Datatype out_type,
                      int root, MPI_Comm comm), {
  return while_in_flight([&] { return real.Scatter(in, count, type, out, out_count, out_type, root, comm); },
                         [&](MPI_Request* request) {
                           return PMPI_Iscatter(in, count, type, out, out_count, out_type, root, comm, request);
                         });
})

COSET_ENTRY(Scatterv, (void const* in, int const counts[], int const places[], MPI_Datatype type, void* out,
                       int out_count, MPI_Datatype out_type, int root, MPI_Comm comm), {
  return while_in_flight(
      [&] { return real.Scatterv(in, counts, places, type, out, out_count, out_type, root, comm); },
      [&](MPI_Request* request) {
        return PMPI_Iscatterv(in, counts, places, type, out, out_count, out_type, root, comm, request);
      });
})

COSET_ENTRY(Alltoall, (void const* in, int count, MPI_Datatype type, void* out, int out_count, MPI_Datatype out_type,
                       MPI_Comm comm), {
  return while_in_flight([&] { return real.Alltoall(in, count, type, out, out_count, out_type, comm); },
                         [&](MPI_Request* request) {
                           return PMPI_Ialltoall(in, count, type, out, out_count, out_type, comm, request);
                         });
})

COSET_ENTRY(Alltoallv,
            (void const* in, int const counts[], int const places[], MPI_Datatype type, void* out,
             int const out_counts[], int const out_places[], MPI_Datatype out_type, MPI_Comm comm),
            {
              return while_in_flight(
                  [&] {
                    return real.Alltoallv(in, counts, places, type, out, out_counts, out_places, out_type, comm);
                  },
                  [&](MPI_Request* request) {
                    return PMPI_Ialltoallv(in, counts, places, type, out, out_counts, out_places, out_type, comm,
                                           request);
                  });
            })

COSET_ENTRY(Alltoallw,
            (void const* in, int const counts[], int const places[], MPI_Datatype const types[], void* out,
             int const out_counts[], int const out_places[], MPI_Datatype const out_types[], MPI_Comm comm),
            {
              return while_in_flight(
                  [&] {
                    return real.Alltoallw(in, counts, places, types, out, out_counts, out_places, out_types, comm);
                  },
                  [&](MPI_Request* request) {
                    return PMPI_Ialltoallw(in, counts, places, types, out, out_counts, out_places, out_types, comm,
                                           request);
                  });
            })
