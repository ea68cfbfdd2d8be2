! SPDX-License-Identifier: Apache-2.0
! What one rank starts wrongly, or plans executed wrongly, are errors on every rank, with the values at fault.
module errors_of_starts_test
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use check
  use coset
  use verbs_test_int32, only: start_verb_of_int32 => start_verb
  use verbs_test_real64, only: start_verb_of_real64 => start_verb
  implicit none
  private
  public :: test_errors_of_starts

  integer, parameter :: piece = 2
  character(*), parameter :: verbs(*) = [character(14) :: 'reduce', 'scan', 'exclusive_scan', 'reduce_scatter', &
                                         'allgather', 'gather', 'scatter', 'all_to_all']

  type :: plans
    type(coset_plan_real64) :: allreduce, reduce_scatter, allgather, scatter
    type(coset_plan_int32) :: of_integers
  end type

contains

  subroutine test_errors_of_starts()
    type(coset_team) :: team
    type(plans) :: made
    integer :: ranks, status, nothing
    nothing = 0
    do ranks = 2, 3
      call coset_team_create(team, ranks, coset_unbound, coset_wait_yield)
      call coset_team_run(team, start_wrongly, nothing)
      call coset_plan_create(made%allreduce, team, coset_verb_allreduce, piece * ranks)
      call coset_plan_create(made%reduce_scatter, team, coset_verb_reduce_scatter, piece * ranks)
      call coset_plan_create(made%allgather, team, coset_verb_allgather, piece * ranks)
      call coset_plan_create(made%scatter, team, coset_verb_scatter, piece * ranks, root=1)
      call coset_plan_create(made%of_integers, team, coset_verb_allreduce, piece * ranks)
      call coset_team_run(team, execute_wrongly, made)
      call coset_plan_free(made%allreduce)
      call coset_plan_free(made%reduce_scatter)
      call coset_plan_free(made%allgather)
      call coset_plan_free(made%scatter)
      call coset_plan_free(made%of_integers)

      call coset_plan_create(made%allreduce, team, coset_verb_allreduce, 6, coset_bit_or, status=status)
      call one(status == coset_argument_error .and. index(coset_error_message(), 'BIT_OR') > 0, 'bits of reals')
      call coset_plan_create(made%allreduce, team, coset_verb_allreduce, 6, algorithm='none_such', status=status)
      call one(status == coset_schedule_error .and. index(coset_error_message(), 'none_such') > 0, 'no such algorithm')
      call coset_plan_create(made%allgather, team, coset_verb_allgather, 2, counts=[2_int64], status=status)
      call one(status == coset_argument_error .and. index(coset_error_message(), '1 counts') > 0, 'too few counts')
      call coset_plan_create(made%allgather, team, coset_verb_allgather, 7, status=status)
      call one(ranks /= 3 .or. status == coset_argument_error, 'unequal pieces')
      call coset_plan_create(made%allgather, team, coset_verb(), 6, status=status)
      call one(status == coset_argument_error .and. index(coset_error_message(), 'verb') > 0, 'no verb')
      call coset_plan_create(made%allreduce, team, coset_verb_allreduce, 1000, algorithm='ring', storage='staged', &
                             bits=coset_per_rank, segment_bytes=1024_int64)
      call one(index(coset_plan_describe(made%allreduce), 'ring, staged') > 0, 'algorithm and storage')
      call coset_plan_free(made%allreduce)
      call coset_team_free(team)
    end do
  contains
    subroutine one(condition, what)
      logical, intent(in) :: condition
      character(*), intent(in) :: what
      call holds(coset_member(), condition, what//': '//coset_status_name(status)//' "'//coset_error_message()//'"')
    end subroutine
  end subroutine

  !> Rank 1 has an array that is too short, and then arrays of another type.
  subroutine start_wrongly(me, context, status)
    type(coset_member), intent(in) :: me
    class(*), intent(inout) :: context
    integer, intent(out) :: status
    real(real64), asynchronous :: x(100), y(100)
    integer(int32), asynchronous :: k(100), m(100)
    type(coset_request) :: request
    integer :: i, given, got, missing
    logical :: other
    other = coset_member_rank(me) == 1
    x = 1
    k = 1
    do i = 1, size(verbs)
      given = piece * coset_member_size(me)
      got = given
      if (verbs(i) == 'allgather' .or. verbs(i) == 'gather') given = piece
      if (verbs(i) == 'reduce_scatter' .or. verbs(i) == 'scatter') got = piece
      missing = merge(1, 0, other)
      if (verbs(i) == 'scatter') then  ! whose root gives the whole array
        call start_verb_of_real64(me, trim(verbs(i)), x(:given - missing), y(:got), request, status)
      else
        call start_verb_of_real64(me, trim(verbs(i)), x(:given), y(:got - missing), request, status)
      end if
      call ends(me, request, status)
      call fails(me, status, coset_argument_error, 'elements')

      if (other) then
        call start_verb_of_int32(me, trim(verbs(i)), k(:given), m(:got), request, status)
      else
        call start_verb_of_real64(me, trim(verbs(i)), x(:given), y(:got), request, status)
      end if
      call ends(me, request, status)
      call fails(me, status, coset_mismatch_error, 'double')
    end do
    status = 0
  end subroutine

  !> Waits for what has started. Ranks that only give may be done before the error is known; they learn of it at the
  !> next collective.
  subroutine ends(me, request, status)
    type(coset_member), intent(in) :: me
    type(coset_request), intent(inout) :: request
    integer, intent(inout) :: status
    if (status == coset_success) call coset_request_wait(request, status)
    if (status == coset_success) call coset_barrier(me, status)
  end subroutine

  subroutine execute_wrongly(me, context, status)
    type(coset_member), intent(in) :: me
    class(*), intent(inout) :: context
    integer, intent(out) :: status
    real(real64), asynchronous :: x(100), y(100), wide(2, 100)
    integer(int32) :: k(100)
    type(coset_request) :: request
    integer :: whole, missing
    logical :: other
    other = coset_member_rank(me) == 1
    missing = merge(1, 0, other)
    whole = piece * coset_member_size(me)
    x = 1
    wide = 1
    k = 1
    select type (context)
    type is (plans)
      call coset_plan_execute(context%allreduce, me, x(:whole), y(:whole - missing), status)
      call fails(me, status, coset_argument_error, 'elements to '//merge('3', '5', whole == 4)//', planned from')
      call coset_plan_execute_in_place(context%allreduce, me, x(:whole - missing), status)
      call fails(me, status, coset_argument_error, 'planned from')
      call coset_plan_start(context%allreduce, me, x(:whole - missing), y(:whole), request, status)
      call ends(me, request, status)
      call fails(me, status, coset_argument_error, 'planned from')
      if (other) then
        call coset_plan_start_in_place(context%allreduce, me, wide(1, :whole), request, status)
      else
        call coset_plan_start_in_place(context%allreduce, me, x(:whole), request, status)
      end if
      call ends(me, request, status)
      call fails(me, status, coset_argument_error, 'without gaps')
      call coset_plan_execute(context%reduce_scatter, me, x(:whole), y(:piece - missing), status)
      call fails(me, status, coset_argument_error, 'elements to 1, planned from '//merge('4', '6', whole == 4)//' to 2')
      call coset_plan_execute(context%allgather, me, x(:piece + missing), y(:whole), status)
      call fails(me, status, coset_argument_error, 'from 3 elements')
      call coset_plan_execute(context%scatter, me, x(:whole - missing), y(:piece), status)
      if (status == coset_success) call coset_barrier(me, status)
      call fails(me, status, coset_argument_error, 'planned from')
      if (other) then
        call coset_plan_execute_in_place(context%of_integers, me, k(:whole), status)
      else
        call coset_plan_execute_in_place(context%allreduce, me, x(:whole), status)
      end if
      call fails(me, status, coset_mismatch_error, 'double')
      call coset_plan_execute(context%allreduce, me, x(:whole), y(:whole), status)
      call holds(me, status == coset_success .and. all(y(:whole) == coset_member_size(me)), 'plans after errors')
    end select
    status = 0
  end subroutine

end module
