! SPDX-License-Identifier: Apache-2.0
! MPI by one of its three interfaces, COSET_F08, COSET_MODULE or mpif.h, for all that is tested by it.
#include "handle.inc"

module world
#if defined(COSET_F08)
  use mpi_f08
#elif defined(COSET_MODULE)
  use mpi
#endif
#if defined(COSET_EXTENSIONS) && defined(COSET_F08)
  use mpi_f08_ext
#elif defined(COSET_EXTENSIONS) && defined(COSET_MODULE)
  use mpi_ext
#endif
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
#if !defined(COSET_F08) && !defined(COSET_MODULE)
  include 'mpif.h'
#endif
  integer :: me, ranks
  integer :: faults = 0
contains
  subroutine expect(is_right, what)
    logical, intent(in) :: is_right
    character(*), intent(in) :: what
    integer, parameter :: enough = 20
    if (is_right) return
    faults = faults + 1
    if (faults <= enough) write (error_unit, '(a,i0,2a)') 'rank ', me, ': wrong: ', what
  end subroutine
end module
