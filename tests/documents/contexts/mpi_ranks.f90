subroutine ranks
  use coset
  use coset_mpi
  use omp_lib
  implicit none
  include 'mpif.h'
  type(coset_team) :: threads
  type(coset_mpi_team) :: all
  type(coset_member) :: me
  type(coset_reducer_real64) :: sums
  real(8) :: x(1000)
  real(8), pointer :: mine(:)
  ! SNIPPET
end subroutine ranks
