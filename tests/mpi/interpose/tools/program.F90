! SPDX-License-Identifier: Apache-2.0
! Fifty allreduces by the interface that the preprocessor names: mpif.h, module mpi or module mpi_f08.
program counted
#if defined(OF_F08)
  use mpi_f08
#elif defined(OF_MODULE)
  use mpi
#endif
  implicit none
#if defined(OF_MPIFH)
  include 'mpif.h'
#endif
  integer :: code, i, mine(2), total(2), processes
  call MPI_Init(code)
  call MPI_Comm_size(MPI_COMM_WORLD, processes, code)
  mine = [1, 2]
  do i = 1, 50
    call MPI_Allreduce(mine, total, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  end do
  if (any(total /= mine * processes)) call MPI_Abort(MPI_COMM_WORLD, 1, code)
  call MPI_Finalize(code)
end program
