! SPDX-License-Identifier: Apache-2.0
! In Fortran: the charge of particles that fly about, on the points of a grid, summed over time steps, as plasma codes
! do. A particle adds to the four points around it, wherever those are, so that threads collide. Each thread of an
! OpenMP region gets a grid of its own from a reducer, and folds its part of all grids. The same serially, and by
! OpenMP's own reduction, whose private grids lie on stacks, where those are large enough: positions are whole 1024ths,
! so all sums are exact and the grids the same.
program scatter
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use omp_lib, only: omp_get_max_threads, omp_get_thread_num
  use coset
  implicit none
  integer, parameter :: rounds = 5
  integer :: particles, cells, steps, threads, round
  logical :: on_stacks
  real(real64), allocatable :: place(:, :), velocity(:, :)
  real(real64), allocatable :: alone(:, :), ours(:, :), openmp(:, :)
  real(real64) :: seconds(3, 0:rounds), median(3)
  type(coset_reducer_real64) :: sums

  particles = argument(1, 300000, 'PARTICLES')
  cells = argument(2, 256, 'CELLS')
  steps = argument(3, 20, 'STEPS')
  threads = omp_get_max_threads()
  print '(i0, a, i0, a, i0, a, i0, a, i0, a)', particles, ' particles, ', cells, ' x ', cells, ' points, ', steps, &
    ' steps, ', threads, ' threads'
  on_stacks = 8 * int(cells, int64)**2 <= 2**22
  call release()
  allocate (alone(cells, cells), ours(cells, cells), openmp(cells, cells))
  call coset_reducer_create(sums, size(ours))

  do round = 0, rounds  ! the first warms up
    alone = 0
    ours = 0
    openmp = 0
    seconds(1, round) = now()
    call serially(alone)
    seconds(1, round) = now() - seconds(1, round)
    seconds(2, round) = now()
    call with_coset(ours)
    seconds(2, round) = now() - seconds(2, round)
    seconds(3, round) = now()
    if (on_stacks) call with_openmp(openmp)
    seconds(3, round) = now() - seconds(3, round)
    if (any(ours /= alone) .or. on_stacks .and. any(openmp /= alone)) error stop 'the grids DIFFER'
  end do
  call coset_reducer_free(sums)
  if (sum(ours) /= real(particles, real64) * steps) error stop 'charge was LOST'

  median = [(middle(seconds(round, 1:)), round = 1, 3)]
  print '(a, f9.2, a)', '  serial                      ', median(1) * 1000, ' ms'
  print '(a, f9.2, a, f6.2, a)', '  coset_reducer_real64        ', median(2) * 1000, ' ms ', median(1) / median(2), &
    ' times as fast as serial'
  if (on_stacks) then
    print '(a, f9.2, a, f6.2, a)', '  OpenMP reduction(+:charge)  ', median(3) * 1000, ' ms  coset is ', &
      median(3) / median(2), ' times as fast'
  else
    print '(a)', '  OpenMP reduction(+:charge)    would not fit its threads'' stacks'
  end if
  print '(a)', '  the same grid in all'

contains

  !> Whole 1024ths of a cell, and of a cell per step.
  subroutine release()
    allocate (place(2, particles), velocity(2, particles))
    call random_init(repeatable=.true., image_distinct=.false.)
    call random_number(place)
    call random_number(velocity)
    place = floor(place * 1024 * cells) / 1024.0_real64
    velocity = floor(velocity * 2048 - 1024) / 1024.0_real64
  end subroutine

  !> Adds particles first to last to a grid without edges.
  subroutine deposit(charge, step, first, last)
    real(real64), intent(inout) :: charge(0:cells - 1, 0:cells - 1)
    integer, intent(in) :: step, first, last
    real(real64) :: at(2), part(2)
    integer :: i, low(2), high(2)
    do i = first, last
      at = modulo(place(:, i) + step * velocity(:, i), real(cells, real64))
      low = int(at)
      high = merge(0, low + 1, low == cells - 1)
      part = at - low
      charge(low(1), low(2)) = charge(low(1), low(2)) + (1 - part(1)) * (1 - part(2))
      charge(high(1), low(2)) = charge(high(1), low(2)) + part(1) * (1 - part(2))
      charge(low(1), high(2)) = charge(low(1), high(2)) + (1 - part(1)) * part(2)
      charge(high(1), high(2)) = charge(high(1), high(2)) + part(1) * part(2)
    end do
  end subroutine

  subroutine serially(charge)
    real(real64), intent(inout) :: charge(:, :)
    integer :: step
    do step = 1, steps
      call deposit(charge, step, 1, particles)
    end do
  end subroutine

  !> The barrier: nobody folds before all have added.
  subroutine with_coset(charge)
    real(real64), intent(inout) :: charge(:, :)
    real(real64), pointer :: mine(:)
    integer :: step, t
    do step = 1, steps
      !$omp parallel num_threads(threads) private(mine, t)
      t = omp_get_thread_num()
      call coset_reducer_local_numbered(sums, t, mine)
      call deposit(mine, step, 1 + share(t), share(t + 1))
      !$omp barrier
      call coset_reducer_combine_part(sums, charge, t, threads)
      !$omp end parallel
    end do
  end subroutine

  subroutine with_openmp(charge)
    real(real64), intent(inout) :: charge(:, :)
    integer :: step, t
    do step = 1, steps
      !$omp parallel do num_threads(threads) reduction(+: charge)
      do t = 0, threads - 1
        call deposit(charge, step, 1 + share(t), share(t + 1))
      end do
    end do
  end subroutine

  integer function share(t)
    integer, intent(in) :: t
    share = int(int(particles, int64) * t / threads)
  end function

  real(real64) function now()
    integer(int64) :: ticks, per_second
    call system_clock(ticks, per_second)
    now = real(ticks, real64) / real(per_second, real64)
  end function

  !> The median of an odd number of values.
  pure real(real64) function middle(values)
    real(real64), intent(in) :: values(:)
    integer :: i
    middle = 0
    do i = 1, size(values)
      if (count(values < values(i)) <= size(values) / 2 .and. count(values > values(i)) <= size(values) / 2) &
        middle = values(i)
    end do
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
    print '(3a, i0)', 'usage: scatter [PARTICLES=300000] [CELLS=256] [STEPS=20]; ', name, ' is a number of 1 or more'
    if (text == '--help') stop
    error stop 2
  end function

end program
