! SPDX-License-Identifier: Apache-2.0
! The threads of an OpenMP region as ranks.
module openmp_test
  use, intrinsic :: iso_fortran_env, only: int32, real64
  use omp_lib, only: omp_get_num_threads, omp_get_thread_num
  use check
  use coset
  implicit none
  private
  public :: test_openmp, test_deposition

  !> What a program reduces at once.
  type :: deposition
    type(coset_reducer_real64) :: charge, energy
    type(coset_reducer_int32) :: particles
  end type

contains

  !> Three things of two types, one barrier.
  subroutine test_deposition()
    integer, parameter :: cells = 1000, items = 30000
    type(deposition) :: sums
    type(coset_member) :: nobody
    real(real64), target :: charge(cells), energy(1)
    integer(int32), target :: particles(cells)
    real(real64), pointer :: q(:), e(:)
    integer(int32), pointer :: n(:)
    integer :: i, step

    charge = 1
    energy = 0
    particles = 0
    call coset_reducer_create(sums%charge, cells)
    call coset_reducer_create(sums%energy, 1)
    call coset_reducer_create(sums%particles, cells)
    do step = 1, 2
      !$omp parallel num_threads(3) private(q, e, n)
      call coset_reducer_local(sums%charge, q)
      call coset_reducer_local(sums%energy, e)
      call coset_reducer_local(sums%particles, n)
      !$omp do
      do i = 1, items
        q(1 + mod(i, cells)) = q(1 + mod(i, cells)) + 2
        n(1 + mod(i, cells)) = n(1 + mod(i, cells)) + 1
        e(1) = e(1) + 0.5_real64
      end do
      call coset_reducer_combine_part(sums%charge, charge, omp_get_thread_num(), omp_get_num_threads())
      call coset_reducer_combine_part(sums%particles, particles, omp_get_thread_num(), omp_get_num_threads())
      call coset_reducer_combine_part(sums%energy, energy, omp_get_thread_num(), omp_get_num_threads())
      !$omp end parallel
    end do
    call holds(nobody, all(charge == 1 + 2 * 2 * items / cells), 'charges of two steps')
    call holds(nobody, all(particles == 2 * items / cells) .and. energy(1) == items, 'particles and their energy')
    call coset_reducer_free(sums%charge)
    call coset_reducer_free(sums%energy)
    call coset_reducer_free(sums%particles)
  end subroutine

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
    call holds(me, all(statuses(:1) == coset_argument_error), 'a region of too few threads')
    call coset_team_join(team, ranks, me, status=status)
    call holds(me, status == coset_argument_error, 'a rank that there is none of')
    call coset_team_free(team)
    call coset_end_idle_teams()

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
