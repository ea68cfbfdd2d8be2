! SPDX-License-Identifier: Apache-2.0
! All tests of module coset, in one program.
program main
  use check
  use errors_test
  use openmp_test
  use operations_test
  use verbs_test_complex128
  use verbs_test_complex64
  use verbs_test_int32
  use verbs_test_int64
  use verbs_test_real32
  use verbs_test_real64
  implicit none
  call test_int32()
  call test_int64()
  call test_real32()
  call test_real64()
  call test_complex64()
  call test_complex128()
  call test_operations()
  call test_errors()
  call test_openmp()
  if (failures() > 0) error stop 'checks have failed'
end program
