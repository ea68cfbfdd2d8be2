! SPDX-License-Identifier: Apache-2.0
! Checks that say what they expected and count, from any thread; and bodies run on teams of several sizes.
module check
  use, intrinsic :: iso_fortran_env, only: error_unit
  use coset
  implicit none
  private
  public :: failures, holds, fails, on_all_sizes

  integer :: count = 0

contains

  integer function failures()
    failures = count
  end function

  !> That this is true on rank `me`.
  subroutine holds(me, condition, what)
    type(coset_member), intent(in) :: me
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    !$omp critical
    count = count + 1
    write (error_unit, '(a, i0, a, i0, 2a)') 'rank ', coset_member_rank(me), ' of ', coset_member_size(me), ': ', what
    !$omp end critical
  end subroutine

  !> That this status is the one wanted, and the message contains this text. Then makes the team work again.
  subroutine fails(me, status, wanted, text)
    type(coset_member), intent(in) :: me
    integer, intent(in) :: status, wanted
    character(*), intent(in) :: text
    call holds(me, status == wanted .and. index(coset_error_message(), text) > 0, 'wanted "'//text//'", got '// &
               coset_status_name(status)//' "'//coset_error_message()//'"')
    call coset_member_reset(me)
  end subroutine

  !> Runs the body with 1, 2, 3 and 4 ranks, wherever they find a processor. Its context is the team.
  subroutine on_all_sizes(body)
    procedure(coset_body) :: body
    type(coset_team) :: team, context
    integer :: ranks
    do ranks = 1, 4
      call coset_team_create(team, ranks, coset_unbound, coset_wait_yield)
      context = team
      call coset_team_run(team, body, context)
      call coset_team_free(team)
    end do
  end subroutine

end module
