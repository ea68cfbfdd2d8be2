// SPDX-License-Identifier: Apache-2.0
// MPI's blocking messages, begun and waited for where operations in flight have to go on meanwhile.
#include <limits>

#include "mpi/preload/entries/entries.hpp"

using namespace coset::interpose;

namespace {

/// Of two requests of one call, both end.
int wait_for_both(MPI_Request first, MPI_Request second, MPI_Status* of_second) {
  int const code = wait_for(first, MPI_STATUS_IGNORE);
  int const last = wait_for(second, of_second);
  return code != MPI_SUCCESS ? code : last;
}

bool may_be_packed(MPI_Count count, datatype const& type) {
  return count >= 0 && (type.size == 0 || count <= std::numeric_limits<int>::max() / static_cast<MPI_Count>(type.size));
}

int replaced(void* data, int count, datatype const& type, int to, int tag, int source, int in_tag, MPI_Comm comm,
             MPI_Status* status) {
  auto const bytes = static_cast<std::size_t>(count) * type.size;
  room const leaving = room_of(bytes);
  pack(data, count, type, leaving.get());
  MPI_Request sent = MPI_REQUEST_NULL, received = MPI_REQUEST_NULL;
  int code = PMPI_Isend(leaving.get(), static_cast<int>(bytes), MPI_PACKED, to, tag, comm, &sent);
  if (code == MPI_SUCCESS) code = PMPI_Irecv(data, count, type.handle, source, in_tag, comm, &received);
  return code != MPI_SUCCESS ? code : wait_for_both(sent, received, status);
}

}  // namespace

#define COSET_SENDING(name, started, Count)                                                                           \
  COSET_ENTRY(name, (void const* from, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm),               \
              (from, count, type, to, tag, comm), {                                                                   \
                return blocking_or_polled(                                                                            \
                    alone(), [&] { return real.name(from, count, type, to, tag, comm); },                             \
                    [&](MPI_Request* request) { return PMPI_##started(from, count, type, to, tag, comm, request); }); \
              })

#define COSET_RECEIVING(name, started, Count)                                                                         \
  COSET_ENTRY(name, (void* to, Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status), \
              (to, count, type, from, tag, comm, status), {                                                           \
                return blocking_or_polled(                                                                            \
                    alone(), [&] { return real.name(to, count, type, from, tag, comm, status); },                     \
                    [&](MPI_Request* request) { return PMPI_##started(to, count, type, from, tag, comm, request); },  \
                    status);                                                                                          \
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

#define COSET_MATCHED(name, started, Count)                                                                           \
  COSET_ENTRY(name, (void* to, Count count, MPI_Datatype type, MPI_Message* message, MPI_Status* status),             \
              (to, count, type, message, status), {                                                                   \
                return blocking_or_polled(                                                                            \
                    alone(), [&] { return real.name(to, count, type, message, status); },                             \
                    [&](MPI_Request* request) { return PMPI_##started(to, count, type, message, request); }, status); \
              })
COSET_MATCHED(Mrecv, Imrecv, int)

#define COSET_EXCHANGE(name, sent_by, received_by, Count)                                                              \
  COSET_ENTRY(name,                                                                                                    \
              (void const* from, Count count, MPI_Datatype type, int to, int tag, void* into, Count in_count,          \
               MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Status* status),                       \
              (from, count, type, to, tag, into, in_count, in_type, source, in_tag, comm, status), {                   \
                if (alone() == within_mpi::goes_on)                                                                    \
                  return real.name(from, count, type, to, tag, into, in_count, in_type, source, in_tag, comm, status); \
                MPI_Request sent = MPI_REQUEST_NULL, received = MPI_REQUEST_NULL;                                      \
                int code = PMPI_##received_by(into, in_count, in_type, source, in_tag, comm, &received);               \
                if (code == MPI_SUCCESS) code = PMPI_##sent_by(from, count, type, to, tag, comm, &sent);               \
                return code != MPI_SUCCESS ? code : wait_for_both(sent, received, status);                             \
              })

// What leaves is packed first. If that has more bytes than an int counts, MPI does it.
#define COSET_REPLACE(name, Count)                                                                                  \
  COSET_ENTRY(name,                                                                                                 \
              (void* data, Count count, MPI_Datatype type, int to, int tag, int source, int in_tag, MPI_Comm comm,  \
               MPI_Status* status),                                                                                 \
              (data, count, type, to, tag, source, in_tag, comm, status), {                                         \
                auto const by_mpi = [&] {                                                                           \
                  return real.name(data, count, type, to, tag, source, in_tag, comm, status);                       \
                };                                                                                                  \
                datatype const* const elements = alone() == within_mpi::goes_on ? nullptr : known(type);            \
                if (elements == nullptr || !may_be_packed(count, *elements)) return by_mpi();                       \
                return guarded(comm, [&] {                                                                          \
                  return replaced(data, static_cast<int>(count), *elements, to, tag, source, in_tag, comm, status); \
                });                                                                                                 \
              })

COSET_EXCHANGE(Sendrecv, Isend, Irecv, int)
COSET_REPLACE(Sendrecv_replace, int)
#if MPI_VERSION >= 4
COSET_MATCHED(Mrecv_c, Imrecv_c, MPI_Count)
COSET_EXCHANGE(Sendrecv_c, Isend_c, Irecv_c, MPI_Count)
COSET_REPLACE(Sendrecv_replace_c, MPI_Count)
#endif
