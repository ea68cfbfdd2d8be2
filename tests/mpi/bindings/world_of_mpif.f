! SPDX-License-Identifier: Apache-2.0
! MPI_COMM_WORLD as programs have it that include mpif.h, which for
! one of both MPIs is of fixed form.
      integer function world_of_mpif()
        implicit none
        include 'mpif.h'
        world_of_mpif = MPI_COMM_WORLD
      end function
