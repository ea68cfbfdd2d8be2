! SPDX-License-Identifier: Apache-2.0
! A collective, in any of the forms in which MPI has it.
#include "handle.inc"

module forms
  use world
  implicit none
  integer, parameter :: allreduce = 1, reduce = 2, scan = 3, exclusive_scan = 4, reduce_scatter = 5, &
                        reduce_scatter_block = 6, allgather = 7, allgatherv = 8, gather = 9, gatherv = 10, &
                        scatter = 11, scatterv = 12, alltoall = 13, broadcast = 14, barrier = 15
  character(20), parameter :: name_of_verb(15) = [character(20) :: 'allreduce', 'reduce', 'scan', 'exscan', &
    'reduce_scatter', 'reduce_scatter_block', 'allgather', 'allgatherv', 'gather', 'gatherv', 'scatter', 'scatterv', &
    'alltoall', 'bcast', 'barrier']
  !> Of the verbs, the first, which combine.
  integer, parameter :: combining = reduce_scatter_block

  integer, parameter :: blocking = 1, nonblocking = 2, persistent = 3
#if defined(COSET_LONG_COUNTS)
  integer, parameter :: all_forms = 2 * persistent  ! the same with long counts
#else
  integer, parameter :: all_forms = persistent
#endif
  character(20), parameter :: name_of_form(6) = [character(20) :: 'blocking', 'nonblocking', 'persistent', &
    'blocking, long', 'nonblocking, long', 'persistent, long']
end module

! These are no module's procedures, and take whatever array they are called with, as those of mpif.h do: so MPI_IN_PLACE
! can be one. `n` is of what a rank sends, or of its piece where all have as much; `counts` and `places` are of pieces
! that differ.
#define CARRY_OUT carry_out_with_counts
#define COUNT kind(0)
#include "carry_out.inc"
#undef CARRY_OUT
#undef COUNT
#if defined(COSET_LONG_COUNTS)
#define CARRY_OUT carry_out_with_long_counts
#define COUNT MPI_COUNT_KIND
#include "carry_out.inc"
#endif

subroutine carry_out(what, how, in, out, n, counts, places, type, by, root, code)
  use forms
  implicit none
  integer, intent(in) :: what, how, n, counts(ranks), places(ranks), root
  integer :: in(*), out(*)
  HANDLE(MPI_Datatype), intent(in) :: type
  HANDLE(MPI_Op), intent(in) :: by
  integer, intent(out) :: code
#if defined(COSET_LONG_COUNTS)
  if (how > persistent) then
    call carry_out_with_long_counts(what, how - persistent, in, out, int(n, MPI_COUNT_KIND), &
      int(counts, MPI_COUNT_KIND), int(places, MPI_COUNT_KIND), type, by, root, code)
    return
  end if
#endif
  call carry_out_with_counts(what, how, in, out, n, counts, places, type, by, root, code)
end subroutine
