// SPDX-License-Identifier: Apache-2.0
// MPI's functions that wait or look: meanwhile operations in flight go on.
#include "mpi/preload/entries/entries.hpp"

using namespace coset::interpose;

namespace {

/// Calls `look`, which says by its flag whether what MPI waits for is there, until it is.
template <class ByMpi, class Look>
int waiting(ByMpi const& by_mpi, Look const& look) {
  if (alone() == within_mpi::goes_on) return by_mpi();
  for (patience between;; between.look()) {
    progress();
    int flag = 0;
    int const code = look(&flag);
    if (code != MPI_SUCCESS || flag != 0) return code;
  }
}

template <class ByMpi>
int looking(ByMpi const& by_mpi) {
  if (!passes_through() && !none_in_flight()) progress();
  return by_mpi();
}

}  // namespace

COSET_ENTRY(Wait, (MPI_Request * request, MPI_Status* status), (request, status), {
  return waiting([&] { return real.Wait(request, status); },
                 [&](int* flag) { return real.Test(request, flag, status); });
})

COSET_ENTRY(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]), (count, requests, statuses), {
  return waiting([&] { return real.Waitall(count, requests, statuses); },
                 [&](int* flag) { return real.Testall(count, requests, flag, statuses); });
})

COSET_ENTRY(Waitany, (int count, MPI_Request requests[], int* which, MPI_Status* status),
            (count, requests, which, status), {
              return waiting([&] { return real.Waitany(count, requests, which, status); },
                             [&](int* flag) { return real.Testany(count, requests, which, flag, status); });
            })

COSET_ENTRY(Waitsome, (int count, MPI_Request requests[], int* found, int which[], MPI_Status statuses[]),
            (count, requests, found, which, statuses), {
              return waiting([&] { return real.Waitsome(count, requests, found, which, statuses); },
                             [&](int* flag) {
                               int const code = real.Testsome(count, requests, found, which, statuses);
                               *flag = *found != 0;
                               return code;
                             });
            })

COSET_ENTRY(Test, (MPI_Request * request, int* flag, MPI_Status* status), (request, flag, status),
            { return looking([&] { return real.Test(request, flag, status); }); })

COSET_ENTRY(Testall, (int count, MPI_Request requests[], int* flag, MPI_Status statuses[]),
            (count, requests, flag, statuses),
            { return looking([&] { return real.Testall(count, requests, flag, statuses); }); })

COSET_ENTRY(Testany, (int count, MPI_Request requests[], int* which, int* flag, MPI_Status* status),
            (count, requests, which, flag, status),
            { return looking([&] { return real.Testany(count, requests, which, flag, status); }); })

COSET_ENTRY(Testsome, (int count, MPI_Request requests[], int* found, int which[], MPI_Status statuses[]),
            (count, requests, found, which, statuses),
            { return looking([&] { return real.Testsome(count, requests, found, which, statuses); }); })

COSET_ENTRY(Request_get_status, (MPI_Request request, int* flag, MPI_Status* status), (request, flag, status),
            { return looking([&] { return real.Request_get_status(request, flag, status); }); })

COSET_ENTRY(Probe, (int source, int tag, MPI_Comm comm, MPI_Status* status), (source, tag, comm, status), {
  return waiting([&] { return real.Probe(source, tag, comm, status); },
                 [&](int* flag) { return real.Iprobe(source, tag, comm, flag, status); });
})

COSET_ENTRY(Iprobe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status),
            (source, tag, comm, flag, status),
            { return looking([&] { return real.Iprobe(source, tag, comm, flag, status); }); })

COSET_ENTRY(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status),
            (source, tag, comm, message, status), {
              return waiting([&] { return real.Mprobe(source, tag, comm, message, status); },
                             [&](int* flag) { return real.Improbe(source, tag, comm, flag, message, status); });
            })

COSET_ENTRY(Improbe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status),
            (source, tag, comm, flag, message, status),
            { return looking([&] { return real.Improbe(source, tag, comm, flag, message, status); }); })
