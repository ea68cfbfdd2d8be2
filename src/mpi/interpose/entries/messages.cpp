// SPDX-License-Identifier: Apache-2.0
// MPI's blocking messages, begun and waited for where operations in flight have to go on meanwhile.
#include "mpi/interpose/entries/entries.hpp"

using namespace coset::interpose;

namespace {

/// Of two requests of one call, both end.
int wait_for_both(MPI_Request first, MPI_Request second, MPI_Status* of_second) {
  int const code = wait_for(first, MPI_STATUS_IGNORE);
  int const last = wait_for(second, of_second);
  return code != MPI_SUCCESS ? code : last;
}

}  // namespace

#define COSET_SENDING(name, started, Count)                                                               \
  COSET_ENTRY(name, (void const* from, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm), { \
    return blocking_or_polled(                                                                            \
        alone(), [&] { return real.name(from, count, type, to, tag, comm); },                             \
        [&](MPI_Request* request) { return PMPI_##started(from, count, type, to, tag, comm, request); }); \
  })

#define COSET_RECEIVING(name, started, Count)                                                                         \
  COSET_ENTRY(                                                                                                        \
      name, (void* to, Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status), {       \
        return blocking_or_polled(                                                                                    \
            alone(), [&] { return real.name(to, count, type, from, tag, comm, status); },                             \
            [&](MPI_Request* request) { return PMPI_##started(to, count, type, from, tag, comm, request); }, status); \
      })

COSET_SENDING(Send, Isend, int)
COSET_SENDING(Ssend, Issend, int)
COSET_SENDING(Rsend, Irsend, int)
COSET_RECEIVING(Recv, Irecv, int)
#if MPI_VERSION >= 4
COSET_SENDING(Send_c, Isend_c, MPI_Count)
COSET_SENDING(Ssend_c, Issend_c, MPI_Count)
COSET_SENDING(Rsend_c, Irsend_c, MPI_Count)
COSET_RECEIVING(Recv_c, Irecv_c, MPI_Count)
#endif

COSET_ENTRY(Mrecv, (void* to, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status), {
  return blocking_or_polled(
      alone(), [&] { return real.Mrecv(to, count, type, message, status); },
      [&](MPI_Request* request) { return PMPI_Imrecv(to, count, type, message, request); }, status);
})

COSET_ENTRY(Sendrecv,
            (void const* from, int count, MPI_Datatype type, int to, int tag, void* into, int in_count,
             MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Status* status),
            {
              if (alone() == within_mpi::goes_on)
                return real.Sendrecv(from, count, type, to, tag, into, in_count, in_type, source, in_tag, comm, status);
              MPI_Request sent = MPI_REQUEST_NULL, received = MPI_REQUEST_NULL;
              int code = PMPI_Irecv(into, in_count, in_type, source, in_tag, comm, &received);
              if (code == MPI_SUCCESS) code = PMPI_Isend(from, count, type, to, tag, comm, &sent);
              return code != MPI_SUCCESS ? code : wait_for_both(sent, received, status);
            })

COSET_ENTRY(Sendrecv_replace,
            (void* data, int count, MPI_Datatype type, int to, int tag, int source, int in_tag, MPI_Comm comm,
             MPI_Status* status),
            {
              datatype const* const elements = alone() == within_mpi::goes_on ? nullptr : known(type);
              if (elements == nullptr || count < 0)
                return real.Sendrecv_replace(data, count, type, to, tag, source, in_tag, comm, status);
              auto const bytes = static_cast<std::size_t>(count) * elements->size;
              room const leaving = room_of(bytes);
              pack(data, count, *elements, leaving.get());
              MPI_Request sent = MPI_REQUEST_NULL, received = MPI_REQUEST_NULL;
              int code = PMPI_Isend(leaving.get(), static_cast<int>(bytes), MPI_PACKED, to, tag, comm, &sent);
              if (code == MPI_SUCCESS) code = PMPI_Irecv(data, count, type, source, in_tag, comm, &received);
              return code != MPI_SUCCESS ? code : wait_for_both(sent, received, status);
            })
