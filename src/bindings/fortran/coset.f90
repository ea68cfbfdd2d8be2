! SPDX-License-Identifier: Apache-2.0
! coset for Fortran: teams of threads as ranks, reductions over their arrays, and reducers for any threads. What coset.h
! says of a function holds for the subroutine of its name. Ranks count from 0, as MPI's do.
!
! Every subroutine ends in an optional `status`. With it, an error is the caller's to handle, and coset_error_message()
! tells the values at fault; without it, an error stops the program with that message.
!
! Bodies of coset_team_run, and what they call, run on several threads: compile them with -fopenmp or -frecursive (or
! declare them recursive), so that local arrays are not static.
module coset
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use coset_base
  use coset_c
  use coset_c_starts
  use coset_plans
  use coset_int32
  use coset_int64
  use coset_real32
  use coset_real64
  use coset_complex64
  use coset_complex128
  implicit none
  private

  public :: coset_team, coset_member, coset_request, coset_operation, coset_body, coset_fold
  public :: coset_team_create, coset_team_adopt, coset_team_free, coset_team_size, coset_team_run
  public :: coset_team_join, coset_team_leave, coset_team_abort, coset_end_idle_teams
  public :: coset_compact, coset_scatter, coset_unbound
  public :: coset_wait_automatic, coset_wait_spin, coset_wait_yield, coset_wait_block
  public :: coset_member_rank, coset_member_size, coset_member_node
  public :: coset_member_split, coset_member_free, coset_member_reset

  public :: coset_allreduce, coset_allreduce_view, coset_reduce, coset_reduce_in_place, coset_reduce_shared
  public :: coset_scan, coset_exclusive_scan
  public :: coset_reduce_scatter, coset_reduce_scatter_in_place, coset_allgather, coset_allgather_in_place
  public :: coset_broadcast, coset_barrier, coset_gather, coset_scatter_from, coset_all_to_all
  public :: coset_start_allreduce, coset_start_reduce, coset_start_reduce_in_place, coset_start_reduce_shared
  public :: coset_start_scan, coset_start_exclusive_scan, coset_start_reduce_scatter
  public :: coset_start_reduce_scatter_in_place, coset_start_allgather, coset_start_allgather_in_place
  public :: coset_start_broadcast, coset_start_barrier, coset_start_gather, coset_start_scatter, coset_start_all_to_all
  public :: coset_request_test, coset_request_wait, coset_request_wait_for

  public :: coset_plan, coset_plan_int32, coset_plan_int64, coset_plan_real32, coset_plan_real64
  public :: coset_plan_complex64, coset_plan_complex128
  public :: coset_plan_create, coset_plan_execute, coset_plan_execute_in_place, coset_plan_start
  public :: coset_plan_start_in_place, coset_plan_count, coset_plan_describe, coset_plan_free
  public :: coset_verb, coset_verb_allreduce, coset_verb_reduce, coset_verb_reduce_scatter, coset_verb_allgather
  public :: coset_verb_broadcast, coset_verb_scan, coset_verb_exclusive_scan, coset_verb_reduce_shared
  public :: coset_verb_gather, coset_verb_scatter, coset_verb_all_to_all
  public :: coset_same_on_all_ranks, coset_per_rank

  public :: coset_plus, coset_multiplies, coset_minimum, coset_maximum, coset_bit_and, coset_bit_or, coset_bit_xor
  public :: coset_logical_and, coset_logical_or, coset_logical_xor, coset_reproducible_plus
  public :: coset_operation_create, coset_operation_free

  public :: coset_reducer_int32, coset_reducer_int64, coset_reducer_real32, coset_reducer_real64
  public :: coset_reducer_complex64, coset_reducer_complex128
  public :: coset_reducer_create, coset_reducer_free, coset_reducer_local, coset_reducer_local_numbered
  public :: coset_reducer_combine, coset_reducer_combine_part, coset_reducer_combine_ranks, coset_reducer_reset
  public :: coset_combine_add, coset_combine_assign

  public :: coset_status_name, coset_error_message
  public :: coset_success, coset_argument_error, coset_topology_error, coset_mismatch_error, coset_schedule_error
  public :: coset_aborted, coset_timed_out, coset_body_failed, coset_out_of_memory, coset_unknown_error
  public :: coset_mpi_error

  real(real64), parameter :: long_enough = 30

contains

  ! ---- teams ----

  !> A team of threads of its own; the caller of coset_team_run is rank 0. Without `ranks` one per core; `processors`
  !> are the operating system's processor indices, one for each rank.
  subroutine coset_team_create(team, ranks, placement, waiting, processors, status)
    type(coset_team), intent(inout) :: team
    integer, intent(in), optional :: ranks, placement, waiting
    integer, intent(in), optional :: processors(:)
    integer, intent(out), optional :: status
    integer(c_int32_t), allocatable, target :: places(:)
    type(c_team_options) :: options
    options = options_of(ranks, placement, waiting)
    if (present(processors)) then
      places = int(processors, c_int32_t)
      options%processor_count = size(places)
      options%processors = c_loc(places)
    end if
    call arrived(c_team_create(options, team%handle), status)
  end subroutine

  !> A team of so many threads that the caller provides, those of an OpenMP region for example. They join.
  subroutine coset_team_adopt(team, ranks, waiting, status)
    type(coset_team), intent(inout) :: team
    integer, intent(in) :: ranks
    integer, intent(in), optional :: waiting
    integer, intent(out), optional :: status
    call arrived(c_team_adopt(int(ranks, c_int32_t), options_of(waiting=waiting), team%handle), status)
  end subroutine

  !> Only when no rank is at work and all have left.
  subroutine coset_team_free(team, status)
    type(coset_team), intent(inout) :: team
    integer, intent(out), optional :: status
    call arrived(c_team_free(team%handle), status)
    team%handle = c_null_ptr
  end subroutine

  integer function coset_team_size(team)
    type(coset_team), intent(in) :: team
    coset_team_size = c_team_size(team%handle)
  end function

  !> Runs `body` on every rank and returns when all have ended. Ranks that write to parts of `context` that others use
  !> have to synchronise.
  subroutine coset_team_run(team, body, context, status)
    type(coset_team), intent(in) :: team
    procedure(coset_body) :: body
    class(*), intent(inout), target :: context
    integer, intent(out), optional :: status
    type(errand), target :: sent
    sent%body => body
    sent%context => context
    call arrived(c_team_run(team%handle, c_funloc(run_errand), c_loc(sent)), status)
  end subroutine

  !> The calling thread becomes this rank of an adopted team until it leaves; returns when all have joined, or fails
  !> with coset_timed_out after so many seconds, 30 unless given; with coset_argument_error at once in an OpenMP region of
  !> fewer threads than the team has ranks.
  subroutine coset_team_join(team, rank, me, seconds, status)
    type(coset_team), intent(in) :: team
    integer, intent(in) :: rank
    type(coset_member), intent(inout) :: me
    real(real64), intent(in), optional :: seconds
    integer, intent(out), optional :: status
    call arrived(c_team_join(team%handle, int(rank, c_int32_t), nanoseconds(seconds), me%handle), status)
  end subroutine

  !> Called by the thread that has joined; the member is invalid afterwards.
  subroutine coset_team_leave(me, status)
    type(coset_member), intent(inout) :: me
    integer, intent(out), optional :: status
    call arrived(c_team_leave(me%handle), status)
    me%handle = c_null_ptr
  end subroutine

  !> Every rank that waits in a collective, or enters one, gets coset_aborted with this reason. From any thread.
  subroutine coset_team_abort(team, reason, status)
    type(coset_team), intent(in) :: team
    character(*), intent(in) :: reason
    integer, intent(out), optional :: status
    call arrived(c_team_abort(team%handle, reason//c_null_char), status)
  end subroutine

  !> Ends the threads of teams that have been freed, which wait a while for the next team alike.
  subroutine coset_end_idle_teams()
    call c_end_idle_teams()
  end subroutine

  function options_of(ranks, placement, waiting) result(options)
    integer, intent(in), optional :: ranks, placement, waiting
    type(c_team_options) :: options
    options%bytes = c_sizeof(options)
    if (present(ranks)) options%ranks = int(ranks, c_int32_t)
    if (present(placement)) options%placement = int(placement, c_int32_t)
    if (present(waiting)) options%waiting = int(waiting, c_int32_t)
  end function

  pure integer(c_int64_t) function nanoseconds(seconds)
    real(real64), intent(in), optional :: seconds
    nanoseconds = nint(long_enough * 1e9_real64, c_int64_t)
    if (present(seconds)) nanoseconds = nint(seconds * 1e9_real64, c_int64_t)
  end function

  ! ---- members ----

  integer function coset_member_rank(me)
    type(coset_member), intent(in) :: me
    coset_member_rank = c_member_rank(me%handle)
  end function

  integer function coset_member_size(me)
    type(coset_member), intent(in) :: me
    coset_member_size = c_member_size(me%handle)
  end function

  !> The NUMA node; −1 if it is unknown.
  integer function coset_member_node(me)
    type(coset_member), intent(in) :: me
    coset_member_node = c_member_node(me%handle)
  end function

  !> Collective: the ranks that pass the same colour become a team of their own, in the order of (key, rank).
  subroutine coset_member_split(me, colour, key, part, status)
    type(coset_member), intent(in) :: me
    integer, intent(in) :: colour, key
    type(coset_member), intent(inout) :: part
    integer, intent(out), optional :: status
    call arrived(c_member_split(me%handle, int(colour, c_int32_t), int(key, c_int32_t), part%handle), status)
  end subroutine

  !> For a member that was split from another.
  subroutine coset_member_free(part, status)
    type(coset_member), intent(inout) :: part
    integer, intent(out), optional :: status
    call arrived(c_member_free(part%handle), status)
    part%handle = c_null_ptr
  end subroutine

  !> Collective, after a failure: once all ranks have called it the team works again.
  subroutine coset_member_reset(me, seconds, status)
    type(coset_member), intent(in) :: me
    real(real64), intent(in), optional :: seconds
    integer, intent(out), optional :: status
    call arrived(c_member_reset(me%handle, nanoseconds(seconds)), status)
  end subroutine

  ! ---- barrier and split phase ----

  subroutine coset_barrier(me, status)
    type(coset_member), intent(in) :: me
    integer, intent(out), optional :: status
    call arrived(c_barrier(me%handle), status)
  end subroutine

  subroutine coset_start_barrier(me, request, status)
    type(coset_member), intent(in) :: me
    type(coset_request), intent(inout) :: request
    integer, intent(out), optional :: status
    call arrived(c_start_barrier(me%handle, request), status)
  end subroutine

  !> Advances the operation; `complete` says whether the output is there and the caller may use the arrays again.
  subroutine coset_request_test(request, complete, status)
    type(coset_request), intent(inout) :: request
    logical, intent(out) :: complete
    integer, intent(out), optional :: status
    logical(c_bool) :: is_complete
    is_complete = .false.
    call arrived(c_request_test(request, is_complete), status)
    complete = is_complete
  end subroutine

  subroutine coset_request_wait(request, status)
    type(coset_request), intent(inout) :: request
    integer, intent(out), optional :: status
    call arrived(c_request_wait(request), status)
  end subroutine

  !> `complete` is false if the operation takes longer than so many seconds: no error, the operation stays live.
  subroutine coset_request_wait_for(request, seconds, complete, status)
    type(coset_request), intent(inout) :: request
    real(real64), intent(in) :: seconds
    logical, intent(out) :: complete
    integer, intent(out), optional :: status
    logical(c_bool) :: is_complete
    is_complete = .false.
    call arrived(c_request_wait_for(request, nanoseconds(seconds), is_complete), status)
    complete = is_complete
  end subroutine

  ! ---- operations ----

  !> A user-defined operation on elements of so many bytes. `fold` is pure and associative; ranks compare `name`.
  subroutine coset_operation_create(operation, name, fold, element_bytes, commutative, exact, context, status)
    type(coset_operation), intent(inout) :: operation
    character(*), intent(in) :: name
    procedure(coset_fold) :: fold
    integer, intent(in) :: element_bytes
    logical, intent(in), optional :: commutative  !< true unless given: otherwise applied in the order of the ranks
    logical, intent(in), optional :: exact        !< false unless given: the bracketing cannot change a bit
    type(c_ptr), intent(in), optional :: context  !< passed to `fold`
    integer, intent(out), optional :: status
    integer(c_int32_t), parameter :: is_noncommutative = 1, is_exact = 2
    integer(c_int32_t) :: flags
    type(c_ptr) :: handed
    flags = 0
    if (present(commutative)) flags = merge(0_c_int32_t, is_noncommutative, commutative)
    if (present(exact)) flags = ior(flags, merge(is_exact, 0_c_int32_t, exact))
    handed = c_null_ptr
    if (present(context)) handed = context
    call arrived(c_operation_create(name//c_null_char, c_funloc(fold), handed, int(element_bytes, c_size_t), flags, &
                                    operation%code), status)
  end subroutine

  subroutine coset_operation_free(operation, status)
    type(coset_operation), intent(inout) :: operation
    integer, intent(out), optional :: status
    call arrived(c_operation_free(operation%code), status)
    operation%code = 0
  end subroutine

end module
