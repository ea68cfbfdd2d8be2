! SPDX-License-Identifier: Apache-2.0
! MPI_COMM_WORLD as programs have it that use mpi_f08, or include mpif.h.
module handles
  implicit none
  private
  public :: world_of_f08, world_of_mpif

  interface
    integer function world_of_mpif()
    end function
  end interface

contains

  integer function world_of_f08()
    use mpi_f08
    world_of_f08 = MPI_COMM_WORLD%MPI_VAL
  end function

end module
