! SPDX-License-Identifier: Apache-2.0
! The threads of an OpenMP region as ranks.
module openmp_test
  use, intrinsic :: iso_fortran_env, only: real64
  use omp_lib, only: omp_get_thread_num
  use check
  use coset
  implicit none
  private
  public :: test_openmp

contains

  subroutine test_openmp()
    integer, parameter :: ranks = 3
    type(coset_team) :: team
    type(coset_member) :: me
    real(real64) :: x(1000)
    integer :: region, status, statuses(0:ranks - 1)

    call coset_team_adopt(team, ranks, coset_wait_yield)
    call holds(me, coset_team_size(team) == ranks, 'the size of a team')
    do region = 1, 3
      !$omp parallel num_threads(ranks) private(me, x)
      call coset_team_join(team, omp_get_thread_num(), me)
      x = coset_member_rank(me) + region
      call coset_allreduce(me, x)
      call holds(me, all(x == 3 + ranks * region), 'a sum in an OpenMP region')
      call coset_team_leave(me)
      !$omp end parallel
    end do

    !$omp parallel num_threads(ranks - 1) private(me)
    call coset_team_join(team, omp_get_thread_num(), me, 0.05_real64, statuses(omp_get_thread_num()))
    !$omp end parallel
    call holds(me, all(statuses(:1) == coset_timed_out), 'a region of too few threads')
    call coset_team_join(team, ranks, me, status=status)
    call holds(me, status == coset_argument_error, 'a rank that there is none of')
    call coset_team_free(team)

    call coset_team_adopt(team, 2, coset_wait_yield)
    !$omp parallel num_threads(2) private(me)
    call coset_team_join(team, omp_get_thread_num(), me)
    if (coset_member_rank(me) == 0) call coset_team_abort(team, 'enough of it')
    if (coset_member_rank(me) == 1) then
      call coset_barrier(me, statuses(1))
      call holds(me, statuses(1) == coset_aborted .and. index(coset_error_message(), 'enough of it') > 0, 'an abort')
    end if
    call coset_team_leave(me)
    !$omp end parallel
    call coset_team_free(team)
  end subroutine

end module
