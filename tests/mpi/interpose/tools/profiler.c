// SPDX-License-Identifier: Apache-2.0
// A tool as mpiP, Score-P or Darshan are: it counts the program's calls by MPI's profiling interface and reports in MPI_Finalize.
// With GOES_ON_TO_NEXT it goes on to the next definition of the same name instead, as some do. With DEFINES_BOTH_NAMES it has both
// names of what begins MPI, as Darshan does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#ifdef GOES_ON_TO_NEXT
#define BELOW(name) ((__typeof__(&PMPI_##name))dlsym(RTLD_NEXT, "MPI_" #name))
#else
#define BELOW(name) PMPI_##name
#endif

// clang-format off
#define COUNTED(each) \
  each(Init, (int* a, char*** b), (a, b)) \
  each(Init_thread, (int* a, char*** b, int c, int* d), (a, b, c, d)) \
  each(Allreduce, (void const* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f), (a, b, c, d, e, f)) \
  each(Iallreduce, (void const* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f, MPI_Request* g), (a, b, c, d, e, f, g)) \
  each(Bcast, (void* a, int b, MPI_Datatype c, int d, MPI_Comm e), (a, b, c, d, e)) \
  each(Barrier, (MPI_Comm a), (a)) \
  each(Gather, (void const* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g, MPI_Comm h), (a, b, c, d, e, f, g, h)) \
  each(Send, (void const* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f), (a, b, c, d, e, f)) \
  each(Isend, (void const* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request* g), (a, b, c, d, e, f, g)) \
  each(Recv, (void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status* g), (a, b, c, d, e, f, g)) \
  each(Irecv, (void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request* g), (a, b, c, d, e, f, g)) \
  each(Wait, (MPI_Request* a, MPI_Status* b), (a, b)) \
  each(Waitall, (int a, MPI_Request b[], MPI_Status c[]), (a, b, c)) \
  each(Test, (MPI_Request* a, int* b, MPI_Status* c), (a, b, c)) \
  each(Iprobe, (int a, int b, MPI_Comm c, int* d, MPI_Status* e), (a, b, c, d, e)) \
  each(Start, (MPI_Request* a), (a)) \
  each(Startall, (int a, MPI_Request b[]), (a, b)) \
  each(Comm_dup, (MPI_Comm a, MPI_Comm* b), (a, b)) \
  each(Comm_free, (MPI_Comm* a), (a)) \
  each(File_open, (MPI_Comm a, char const* b, int c, MPI_Info d, MPI_File* e), (a, b, c, d, e)) \
  each(File_write_all, (MPI_File a, void const* b, int c, MPI_Datatype d, MPI_Status* e), (a, b, c, d, e))
// clang-format on

#define NUMBER(name, parameters, names) of_##name,
enum { COUNTED(NUMBER) functions };
static long counts[functions];

#define ENTRY(name, parameters, names) \
  int MPI_##name parameters {          \
    ++counts[of_##name];               \
    return BELOW(name) names;          \
  }
COUNTED(ENTRY)

#ifdef DEFINES_BOTH_NAMES
int PMPI_Init(int* a, char*** b) {
  ++counts[of_Init];
  return ((__typeof__(&PMPI_Init))dlsym(RTLD_NEXT, "PMPI_Init"))(a, b);
}

int PMPI_Init_thread(int* a, char*** b, int c, int* d) {
  ++counts[of_Init_thread];
  return ((__typeof__(&PMPI_Init_thread))dlsym(RTLD_NEXT, "PMPI_Init_thread"))(a, b, c, d);
}
#endif

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    printf("tool:");
#define TELL(name, parameters, names) printf(" " #name " %ld", counts[of_##name]);
    COUNTED(TELL)
    printf("\n");
    fflush(stdout);
  }
  return BELOW(Finalize)();
}
