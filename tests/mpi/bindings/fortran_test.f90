! SPDX-License-Identifier: Apache-2.0
! Module coset_mpi: threads of OpenMP regions that join, threads that run, options, statuses.
module coset_mpi_test
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi
  use omp_lib, only: omp_get_thread_num
  use check
  use coset
  use coset_mpi
  use handles
  implicit none
  private
  public :: test_regions, test_runs, test_options, test_failures, test_reducers

  type(coset_member) :: nobody

contains

  !> Unequal: 2 or 3.
  integer function threads_here()
    integer :: process, ierror
    call MPI_Comm_rank(MPI_COMM_WORLD, process, ierror)
    threads_here = 2 + mod(process, 2)
  end function

  integer function processes()
    integer :: ierror
    call MPI_Comm_size(MPI_COMM_WORLD, processes, ierror)
  end function

  !> That the members of all processes are one team. A body.
  recursive subroutine sum_up(me, context, status)
    type(coset_member), intent(in) :: me
    class(*), intent(inout) :: context
    integer, intent(out) :: status
    type(coset_member) :: turned
    integer, allocatable :: ranks(:)
    integer :: i
    real(real64) :: x(3, 100)
    x = coset_member_rank(me) + 0.5_real64
    call coset_allreduce(me, x, status=status)
    call holds(me, all(x == coset_member_size(me)**2 / 2.0_real64), 'the sum of all ranks')
    allocate (ranks(coset_member_size(me)))
    call coset_allgather(me, [coset_member_rank(me)], ranks)
    call holds(me, all(ranks == [(i, i=0, size(ranks) - 1)]), 'the order of the ranks')
    call coset_member_split(me, 5, -coset_member_rank(me), turned, status)
    call coset_allreduce(turned, x)
    call holds(me, coset_member_rank(turned) + coset_member_rank(me) + 1 == coset_member_size(me), 'the opposite order')
    call holds(me, all(x == coset_member_size(me)**3 / 2.0_real64), 'the sum of a part')
    call coset_member_free(turned)
  end subroutine

  recursive subroutine fail_on_last(me, context, status)
    type(coset_member), intent(in) :: me
    class(*), intent(inout) :: context
    integer, intent(out) :: status
    status = 7
    if (coset_member_rank(me) + 1 < coset_member_size(me)) call coset_barrier(me, status)
  end subroutine

  subroutine join_and_sum(all)
    type(coset_mpi_team), intent(in) :: all
    type(coset_member) :: me
    integer :: nothing, status
    nothing = 0
    !$omp parallel num_threads(threads_here()) private(me, status) firstprivate(nothing)
    call coset_mpi_team_join(all, omp_get_thread_num(), me)
    call holds(me, coset_member_rank(me) == coset_mpi_team_first(all) + omp_get_thread_num(), 'the number of a thread')
    call sum_up(me, nothing, status)
    call holds(me, status == coset_success, 'the status of a sum')
    call coset_team_leave(me)
    !$omp end parallel
  end subroutine

  subroutine test_regions()
    type(coset_team) :: threads
    type(coset_mpi_team) :: all
    integer :: communicators(3), c, region, total, ierror
    communicators = [MPI_COMM_WORLD, world_of_f08(), world_of_mpif()]
    call MPI_Allreduce(threads_here(), total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    do c = 1, size(communicators)
      call coset_team_adopt(threads, threads_here())
      call coset_mpi_team_create(all, communicators(c), threads)
      call holds(nobody, coset_mpi_team_size(all) == total, 'the size of a team')
      call holds(nobody, coset_mpi_team_threads(all) == threads_here(), 'the threads of a process')
      call holds(nobody, coset_mpi_team_processes(all) == processes(), 'the processes of a team')
      call holds(nobody, coset_mpi_team_hosts(all) >= 1 .and. coset_mpi_team_hosts(all) <= processes(), 'the hosts')
      call holds(nobody, index(coset_mpi_team_describe(all), ' ranks of ') > 0, 'the description '// &
                 coset_mpi_team_describe(all))
      do region = 1, 3
        call join_and_sum(all)
      end do
      call coset_mpi_team_free(all)
      call coset_team_free(threads)
    end do
  end subroutine

  subroutine test_runs()
    type(coset_team) :: threads
    type(coset_mpi_team) :: all
    logical :: has_last
    integer :: nothing, status
    nothing = 0
    call coset_team_create(threads, threads_here(), coset_unbound)
    call coset_mpi_team_create(all, MPI_COMM_WORLD, threads)
    call coset_mpi_team_run(all, sum_up, nothing)
    call coset_mpi_team_run(all, fail_on_last, nothing, status)
    has_last = coset_mpi_team_first(all) + coset_mpi_team_threads(all) == coset_mpi_team_size(all)
    call holds(nobody, status == merge(coset_body_failed, coset_aborted, has_last), 'a body that fails')
    call holds(nobody, index(coset_error_message(), 'the body returned 7') > 0, coset_error_message())
    call coset_mpi_team_run(all, sum_up, nothing)
    call coset_mpi_team_free(all)
    call coset_team_free(threads)
  end subroutine

  subroutine test_options()
    type(coset_team) :: threads
    type(coset_mpi_team) :: all
    integer :: nothing, status
    nothing = 0
    call coset_team_create(threads, threads_here(), coset_unbound)
    call coset_mpi_team_create(all, MPI_COMM_WORLD, threads, leaders=1, library_leaders=2, seconds=60.0_real64, &
                               staging_bytes=0)
    call holds(nobody, index(coset_mpi_team_describe(all), 'within hosts') == 0, 'no window')
    if (coset_mpi_team_hosts(all) > 1) &
      call holds(nobody, index(coset_mpi_team_describe(all), ' 1 rank of process') > 0, coset_mpi_team_describe(all))
    call coset_mpi_team_run(all, sum_up, nothing)
    call coset_mpi_team_free(all)
    call coset_mpi_team_create(all, MPI_COMM_WORLD, threads, tree='no/tree', status=status)
    if (processes() > 1) &
      call holds(nobody, status == coset_schedule_error .and. index(coset_error_message(), 'no/tree') > 0, &
                 'a tree that is none gives '//coset_status_name(status)//' '//coset_error_message())
    call coset_team_free(threads)
  end subroutine

  subroutine test_failures()
    type(coset_team) :: threads
    type(coset_mpi_team) :: all
    type(coset_member) :: me
    integer :: x(2), status, ierror
    call coset_team_adopt(threads, threads_here())
    call coset_mpi_team_create(all, MPI_COMM_NULL, threads, status=status)
    call holds(nobody, status == coset_argument_error, 'no communicator')
    call coset_mpi_team_create(all, MPI_COMM_WORLD, threads)
    call coset_mpi_team_join(all, 3, me, status)
    call holds(nobody, status == coset_argument_error, 'a thread that there is none of')
    !$omp parallel num_threads(threads_here()) private(me, status, x)
    x = 1
    call coset_mpi_team_join(all, omp_get_thread_num(), me, status)
    if (status == coset_success) then
      call coset_allreduce(me, x(:merge(2, 1, coset_member_rank(me) == 0)), status=status)
      if (status == coset_success) call coset_barrier(me, status)
      call coset_team_leave(me)
    end if
    call holds(me, status == coset_mismatch_error, 'a disagreement gives '//coset_status_name(status))
    !$omp end parallel
    call coset_mpi_team_reset(all)
    call join_and_sum(all)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call coset_mpi_team_free(all)
    call coset_team_free(threads)
  end subroutine

  !> A reducer and an array in each process, which gets what the threads of all have reduced.
  subroutine test_reducers()
    type(coset_team) :: threads
    type(coset_mpi_team) :: all
    type(coset_member) :: me
    type(coset_reducer_real64) :: sums
    real(real64), pointer :: mine(:)
    real(real64) :: bins(1000), wrong(999), wide(2, 1000), total
    integer :: step, ranks, status, ierror
    call coset_team_adopt(threads, threads_here())
    call coset_mpi_team_create(all, MPI_COMM_WORLD, threads)
    call coset_reducer_create(sums, size(bins))
    ranks = coset_mpi_team_size(all)
    total = ranks * (ranks + 1) / 2
    bins = 1
    wrong = 0
    wide = 0
    do step = 1, 3
      !$omp parallel num_threads(threads_here()) private(me, mine, status)
      call coset_mpi_team_join(all, omp_get_thread_num(), me)
      call coset_reducer_local_numbered(sums, coset_member_rank(me), mine)
      mine = mine + coset_member_rank(me) + 1
      if (step < 3) then
        call coset_reducer_combine_ranks(sums, bins, me, status=status)
      else
        call coset_reducer_combine_ranks(sums, bins, me, coset_combine_assign, status)
      end if
      call holds(me, status == coset_success, 'a combination by ranks gives '//coset_status_name(status))
      call coset_team_leave(me)
      !$omp end parallel
      call holds(nobody, count(bins == merge(total, 1 + step * total, step == 3)) == size(bins), 'what all ranks have reduced')
    end do
    call MPI_Barrier(MPI_COMM_WORLD, ierror)  ! an error would reach ranks that are still in the last combination
    call refused_everywhere(1)
    call refused_everywhere(2)
    call refused_everywhere(3)
    call coset_reducer_free(sums)
    call coset_mpi_team_free(all)
    call coset_team_free(threads)

  contains

    subroutine refused_everywhere(fault)
      integer, intent(in) :: fault
      call coset_reducer_reset(sums)
      !$omp parallel num_threads(threads_here()) private(me, status)
      call coset_mpi_team_join(all, omp_get_thread_num(), me, status)
      if (status == coset_success) then
        select case (fault)
        case (1)
          call coset_reducer_combine_ranks(sums, wrong, me, status=status)
        case (2)
          call coset_reducer_combine_ranks(sums, wide(2, :), me, status=status)
        case default
          call coset_reducer_combine_ranks(sums, bins, me, 7, status)
        end select
        call coset_team_leave(me)
      end if
      call holds(nobody, status == coset_argument_error, 'a wrong combination gives '//coset_status_name(status))
      !$omp end parallel
      call coset_mpi_team_reset(all)
    end subroutine
  end subroutine

end module

program fortran_test
  use mpi
  use check
  use coset_mpi_test
  implicit none
  integer :: given, process, wanted, ierror
  character(20) :: level
  call get_command_argument(1, level)
  wanted = merge(MPI_THREAD_FUNNELED, MPI_THREAD_MULTIPLE, level == '--level=funneled')
  call MPI_Init_thread(wanted, given, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, process, ierror)
  if (given >= wanted) then
    call test_regions()
    call test_runs()
    call test_options()
    call test_failures()
    call test_reducers()
  else if (process == 0) then
    print '(a)', 'this MPI does not give that level'
  end if
  call MPI_Finalize(ierror)
  if (given < wanted) stop 77
  if (failures() > 0) error stop 'checks have failed'
end program
