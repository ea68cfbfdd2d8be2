! SPDX-License-Identifier: Apache-2.0
! What is called wrongly, by one rank, is an error on every rank, with the values at fault.
module errors_test
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use check
  use coset
  implicit none
  private
  public :: test_errors

  integer, parameter :: ranks = 3

contains

  subroutine test_errors()
    type(coset_team) :: team
    integer :: status, of_body
    call coset_team_create(team, ranks, coset_unbound, coset_wait_yield)
    call coset_team_run(team, mistakes, status)
    of_body = 7
    call coset_team_run(team, fail_alone, of_body, status)
    call one(status == coset_body_failed .and. index(coset_error_message(), 'returned 7') > 0, 'a body that fails')
    of_body = coset_mismatch_error
    call coset_team_run(team, fail_by_a_call, of_body, status)
    call one(status == coset_mismatch_error .and. index(coset_error_message(), 'left') > 0, 'a status passed on')
    call coset_team_free(team)
    call on_all_sizes(messages_of_their_own)

    call coset_team_create(team, 2, status=status, placement=99)
    call one(status == coset_argument_error, 'a placement that is none')
    call coset_team_create(team, processors=[99999, 99999], status=status)
    call one(status == coset_topology_error .and. index(coset_error_message(), '99999') > 0, 'no such processor')
    call one(coset_status_name(coset_aborted) == 'COSET_ABORTED', 'names of statuses')
    call one(coset_status_name(coset_mpi_error) == 'COSET_MPI_ERROR', 'the name of the last status')
    call one(coset_status_name(1000) == 'unknown status', 'names of what is no status')
    call coset_barrier(coset_member(), status)
    call one(status == coset_argument_error .and. index(coset_error_message(), 'NULL') > 0, 'a member of no team')
    call no_member()
  contains
    subroutine one(condition, what)
      logical, intent(in) :: condition
      character(*), intent(in) :: what
      call holds(coset_member(), condition, what//': '//coset_status_name(status)//' "'//coset_error_message()//'"')
    end subroutine
    subroutine no_member()
      real(real64) :: x(2)
      x = 0
      call coset_allgather(coset_member(), x(1), x, status=status)
      call one(status == coset_argument_error .and. index(coset_error_message(), 'NULL') > 0, 'pieces of no team')
    end subroutine
  end subroutine

  subroutine mistakes(me, context, status)
    type(coset_member), intent(in) :: me
    class(*), intent(inout) :: context
    integer, intent(out) :: status
    real(real64) :: x(12), y(12), wide(2, 12)
    integer(int64) :: counts(ranks)
    type(coset_request) :: request
    type(coset_operation) :: operation
    logical :: other
    integer :: n
    other = coset_member_rank(me) == 1
    x = 1
    wide = 1

    call coset_allreduce(me, x(:merge(4, 5, other)), y(:merge(4, 5, other)), status=status)
    call fails(me, status, coset_mismatch_error, '4')
    call coset_allreduce(me, x(:5), y(:merge(4, 5, other)), status=status)
    call fails(me, status, coset_argument_error, 'from 5 elements to 4')
    n = coset_member_rank(me)
    if (other) then
      call coset_allreduce(me, n, status=status)
    else
      call coset_allreduce(me, x(1), status=status)
    end if
    call fails(me, status, coset_mismatch_error, 'double')
    operation = coset_plus
    if (other) operation = coset_maximum
    call coset_allreduce(me, x, operation, status)
    call fails(me, status, coset_mismatch_error, 'maximum')
    call coset_allreduce(me, x, coset_bit_or, status)
    call fails(me, status, coset_argument_error, 'BIT_OR')
    call coset_reduce(me, x, y(:merge(3, 12, other)), 1, status=status)
    if (other) then  ! the root; those that only give may be done before
      call fails(me, status, coset_argument_error, 'from 12 elements to 3')
    else
      call coset_member_reset(me)
    end if
    call coset_broadcast(me, x, ranks, status)
    call fails(me, status, coset_argument_error, 'root 3')

    call coset_allgather(me, x(:3), y(:merge(8, 9, other)), status=status)
    call fails(me, status, coset_argument_error, '3 elements are no piece of 8')
    counts = [2, 3, 4]
    call coset_allgather(me, x(:merge(2, int(counts(coset_member_rank(me) + 1)), other)), y(:9), counts, status)
    call fails(me, status, coset_argument_error, '2 elements are no piece of 9')
    call coset_allgather_in_place(me, y(:9), counts(:merge(2, 3, other)), status)
    call fails(me, status, coset_argument_error, 'no piece of 9')
    call coset_reduce_scatter(me, x(:merge(10, 9, other)), y(:3), status=status)
    call fails(me, status, coset_argument_error, '3 elements are no piece of 10')
    call coset_reduce_scatter_in_place(me, x(:merge(10, 9, other)), status=status)
    call fails(me, status, coset_argument_error, 'no piece of 10')

    if (other) then
      call coset_start_allreduce(me, wide(1, :), request, status=status)
    else
      call coset_start_allreduce(me, x, request, status=status)
    end if
    if (status == coset_success) call coset_request_wait(request, status)
    call fails(me, status, coset_argument_error, 'without gaps')

    y = 0
    call coset_allreduce(me, x, y, status=status)
    call holds(me, status == coset_success .and. all(y == ranks), 'the team works after errors')
  end subroutine

  !> Every rank reads its own message, whatever the others' lengths.
  subroutine messages_of_their_own(me, context, status)
    type(coset_member), intent(in) :: me
    class(*), intent(inout) :: context
    integer, intent(out) :: status
    type(coset_reducer_real64) :: none_such
    character(20) :: number
    integer :: rank, i, wrong
    rank = coset_member_rank(me)
    wrong = 0
    write (number, '(i0)') -10**(2 * rank)
    do i = 1, 5000
      call coset_reducer_create(none_such, -10**(2 * rank), status=status)
      if (index(coset_error_message(), 'a reducer of '//trim(number)//' elements') /= 1) wrong = wrong + 1
      if (coset_status_name(status - rank) /= names(rank)) wrong = wrong + 1
      if (coset_status_name(99) /= 'unknown status') wrong = wrong + 1
    end do
    call holds(me, wrong == 0, 'messages and names of statuses on all ranks at a time')
    status = 0
  contains
    function names(which)
      integer, intent(in) :: which
      character(30) :: names
      names = 'unknown status'
      if (which == 0) names = 'COSET_ARGUMENT_ERROR'
      if (which == 1) names = 'COSET_SUCCESS'
    end function
  end subroutine

  subroutine fail_alone(me, context, status)
    type(coset_member), intent(in) :: me
    class(*), intent(inout) :: context
    integer, intent(out) :: status
    status = 0
    select type (context)
    type is (integer)
      if (coset_member_rank(me) == 2) status = context
    end select
    if (status == 0) call coset_barrier(me, status)
  end subroutine

  subroutine fail_by_a_call(me, context, status)
    type(coset_member), intent(in) :: me
    class(*), intent(inout) :: context
    integer, intent(out) :: status
    status = 0
    if (coset_member_rank(me) /= 2) call coset_barrier(me, status)
  end subroutine

end module
