! SPDX-License-Identifier: Apache-2.0
! In Fortran: heat in a rod whose ends are held hot and cold, until it flows no more. The threads of an OpenMP region
! are the ranks; each has a piece of the rod, and after every sweep all need the largest change of all. The same
! serially, and by OpenMP's own reduction: largest changes are exact, so all three stop after the same sweep with the
! same rod.
program heat
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use omp_lib, only: omp_get_max_threads, omp_get_thread_num
  use coset
  implicit none
  integer :: points, sweeps(3), most_sweeps, ranks
  real(real64), allocatable :: alone(:), ours(:), openmp(:)
  real(real64) :: seconds(3)
  logical :: right

  points = argument(1, 10000, 'POINTS')
  most_sweeps = argument(2, 5000, 'SWEEPS')
  ranks = min(omp_get_max_threads(), points)
  print '(i0, a, i0, a, i0, a)', points, ' points, at most ', most_sweeps, ' sweeps, ', ranks, ' threads'

  seconds(1) = now()
  call serially(alone, sweeps(1))
  seconds(1) = now() - seconds(1)
  seconds(2) = now()
  call with_coset(ours, sweeps(2))
  seconds(2) = now() - seconds(2)
  seconds(3) = now()
  call with_openmp(openmp, sweeps(3))
  seconds(3) = now() - seconds(3)

  print '(a, f9.2, a)', '  serial                   ', seconds(1) * 1000, ' ms'
  print '(a, f9.2, a, f6.2, a)', '  coset_allreduce          ', seconds(2) * 1000, ' ms ', seconds(1) / seconds(2), &
    ' times as fast as serial'
  print '(a, f9.2, a, f6.2, a)', '  OpenMP reduction(max:x)  ', seconds(3) * 1000, ' ms  coset is ', &
    seconds(3) / seconds(2), ' times as fast'
  right = all(sweeps == sweeps(1)) .and. all(ours == alone) .and. all(openmp == alone)
  if (.not. right) error stop 'the rods DIFFER'
  print '(a, i0, a)', '  the same rod in all three after ', sweeps(1), ' sweeps'

contains

  !> Points first to last one sweep on, and the largest change among them.
  subroutine sweep(before, after, first, last, change)
    real(real64), intent(in) :: before(0:)
    real(real64), intent(inout) :: after(0:)
    integer, intent(in) :: first, last
    real(real64), intent(out) :: change
    integer :: i
    real(real64) :: largest
    largest = 0
    do i = first, last
      after(i) = before(i) + 0.4_real64 * (before(i - 1) - 2 * before(i) + before(i + 1))
      largest = max(largest, abs(after(i) - before(i)))
    end do
    change = largest
  end subroutine

  !> Two rods, of which sweeps read the one and write the other. The first point is hot.
  subroutine lay(rods)
    real(real64), allocatable, intent(out) :: rods(:, :)
    allocate (rods(0:points + 1, 0:1))
    rods = 0
    rods(0, :) = 1
  end subroutine

  logical function still_flows(change, done)
    real(real64), intent(in) :: change
    integer, intent(in) :: done
    still_flows = change > 1e-7_real64 .and. done < most_sweeps
  end function

  subroutine serially(rod, done)
    real(real64), allocatable, intent(out) :: rod(:)
    integer, intent(out) :: done
    real(real64), allocatable :: rods(:, :)
    real(real64) :: change
    call lay(rods)
    change = huge(change)
    done = 0
    do while (still_flows(change, done))
      call sweep(rods(:, mod(done, 2)), rods(:, mod(done + 1, 2)), 1, points, change)
      done = done + 1
    end do
    rod = rods(:, mod(done, 2))
  end subroutine

  !> The allreduce is the barrier too: when a rank has the total, all have swept.
  subroutine with_coset(rod, done)
    real(real64), allocatable, intent(out) :: rod(:)
    integer, intent(out) :: done
    real(real64), allocatable :: rods(:, :)
    real(real64) :: change
    type(coset_team) :: team
    type(coset_member) :: me
    integer :: rank, mine
    call lay(rods)
    call coset_team_adopt(team, ranks)
    !$omp parallel num_threads(ranks) private(change, me, rank, mine)
    rank = omp_get_thread_num()
    call coset_team_join(team, rank, me)
    change = huge(change)
    mine = 0
    do while (still_flows(change, mine))
      call sweep(rods(:, mod(mine, 2)), rods(:, mod(mine + 1, 2)), 1 + share(rank), share(rank + 1), change)
      call coset_allreduce(me, change, coset_maximum)
      mine = mine + 1
    end do
    if (rank == 0) done = mine
    call coset_team_leave(me)
    !$omp end parallel
    call coset_team_free(team)
    rod = rods(:, mod(done, 2))
  end subroutine

  subroutine with_openmp(rod, done)
    real(real64), allocatable, intent(out) :: rod(:)
    integer, intent(out) :: done
    real(real64), allocatable :: rods(:, :)
    real(real64) :: change, mine
    integer :: rank
    call lay(rods)
    change = huge(change)
    done = 0
    do while (still_flows(change, done))
      change = 0
      !$omp parallel do num_threads(ranks) private(mine) reduction(max: change)
      do rank = 0, ranks - 1
        call sweep(rods(:, mod(done, 2)), rods(:, mod(done + 1, 2)), 1 + share(rank), share(rank + 1), mine)
        change = max(change, mine)
      end do
      done = done + 1
    end do
    rod = rods(:, mod(done, 2))
  end subroutine

  integer function share(rank)
    integer, intent(in) :: rank
    share = int(int(points, int64) * rank / ranks)
  end function

  real(real64) function now()
    integer(int64) :: ticks, per_second
    call system_clock(ticks, per_second)
    now = real(ticks, real64) / real(per_second, real64)
  end function

  integer function argument(position, otherwise, name)
    integer, intent(in) :: position, otherwise
    character(*), intent(in) :: name
    character(64) :: text
    integer :: status
    argument = otherwise
    if (command_argument_count() < position) return
    call get_command_argument(position, text)
    read (text, *, iostat=status) argument
    if (status == 0 .and. argument > 0) return
    print '(3a, i0)', 'usage: heat [POINTS=10000] [SWEEPS=5000]; ', name, ' is a number of 1 or more'
    if (text == '--help') stop
    error stop 2
  end function

end program
