! SPDX-License-Identifier: Apache-2.0
! A Fortran program of somebody else, of one process: every rank gets the sum over all ranks, or the exit status says that
! it did not.
module bodies
  use coset
  implicit none
contains
  recursive subroutine sum_up(me, context, status)
    type(coset_member), intent(in) :: me
    class(*), intent(inout) :: context
    integer, intent(out) :: status
    integer :: total
    total = coset_member_rank(me) + 1
    call coset_allreduce(me, total, status=status)
    if (status == coset_success .and. total /= 3) status = coset_unknown_error
  end subroutine
end module

program outside
  use mpi
  use coset_mpi
  use bodies
  implicit none
  type(coset_team) :: threads
  type(coset_mpi_team) :: all
  integer :: nothing = 0, given, ierror
  call MPI_Init_thread(MPI_THREAD_FUNNELED, given, ierror)
  call coset_team_create(threads, 2, coset_unbound)
  call coset_mpi_team_create(all, MPI_COMM_WORLD, threads)
  call coset_mpi_team_run(all, sum_up, nothing)
  call coset_mpi_team_free(all)
  call coset_team_free(threads)
  call MPI_Finalize(ierror)
end program
