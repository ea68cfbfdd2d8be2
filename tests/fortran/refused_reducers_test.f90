! SPDX-License-Identifier: Apache-2.0
! Reducers called wrongly, which tells the caller alone; and other operations than the sum.
module refused_reducers_test
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use check
  use coset
  implicit none
  private
  public :: test_refused_reducers

contains

  subroutine test_refused_reducers()
    call ranges()
    call targets()
    call operations()
    call nothing()
  end subroutine

  !> That this status is COSET_ARGUMENT_ERROR, and the message contains this text.
  subroutine refuses(status, text)
    integer, intent(in) :: status
    character(*), intent(in) :: text
    call holds(coset_member(), status == coset_argument_error .and. index(coset_error_message(), text) > 0, &
               'wanted "'//text//'", got '//coset_status_name(status)//' "'//coset_error_message()//'"')
  end subroutine

  subroutine ranges()
    type(coset_reducer_int32) :: sums
    integer(int32), pointer :: mine(:)
    integer :: status
    call coset_reducer_create(sums, 10)
    call coset_reducer_local(sums, mine, 0, 3, status)
    call refuses(status, 'elements 0 to 3 of a reducer of 10')
    call holds(coset_member(), .not. associated(mine), 'no elements of a wrong range')
    call coset_reducer_local(sums, mine, 8_int64, 11_int64, status)
    call refuses(status, 'elements 8 to 11 of a reducer of 10')
    call coset_reducer_local(sums, mine, 8, 6, status)
    call refuses(status, 'elements 8 to 6 of a reducer of 10')
    call coset_reducer_local_numbered(sums, 0, mine, 11, 11, status)
    call refuses(status, 'elements 11 to 11 of a reducer of 10')
    call coset_reducer_local_numbered(sums, -1, mine, status)
    call refuses(status, 'copy -1')
    call coset_reducer_local(sums, mine, 10, 10, status)
    call holds(coset_member(), status == coset_success .and. mine(10) == 0, 'the last element after errors')
    call coset_reducer_free(sums)
    call coset_reducer_create(sums, -1, status=status)
    call refuses(status, 'a reducer of -1 elements')
    call coset_reducer_create(sums, 10, block_bytes=-64_int64, status=status)
    call refuses(status, 'blocks of -64')
  end subroutine

  subroutine targets()
    type(coset_reducer_real64) :: sums
    type(coset_team) :: team
    real(real64) :: x(12), wide(2, 10)
    real(real64), pointer :: mine(:)
    integer :: status
    x = 0
    wide = 0
    call coset_reducer_create(sums, 10)
    call coset_reducer_local(sums, mine)
    mine = 1
    call coset_reducer_combine(sums, x(:9), status=status)
    call refuses(status, 'a reducer of 10 elements into 9')
    call coset_reducer_combine(sums, x, status=status)
    call refuses(status, 'a reducer of 10 elements into 12')
    call coset_reducer_combine_part(sums, x, 0, 1, status)
    call refuses(status, 'a reducer of 10 elements into 12')
    call coset_reducer_combine_part(sums, wide(2, :), 0, 1, status)
    call refuses(status, 'gaps')
    call coset_reducer_combine_part(sums, x(:10), 2, 2, status)
    call refuses(status, 'part 2 of 2')
    call coset_reducer_combine_part(sums, x(:10), -1, 2, status)
    call refuses(status, 'part -1 of 2')
    call coset_reducer_combine(sums, x(:10), team, status)
    call refuses(status, 'this team')
    call holds(coset_member(), all(x == 0) .and. all(wide == 0), 'what is refused writes nothing')
    call coset_reducer_combine(sums, x(2:11), status=status)
    call holds(coset_member(), status == coset_success .and. all(x(2:11) == 1) .and. x(1) == 0 .and. x(12) == 0, &
               'combined after errors')
    call coset_reducer_free(sums)
  end subroutine

  !> Of two numbers the one farther from zero.
  subroutine farther(left, right, count, context) bind(c)
    type(c_ptr), value :: left, right, context
    integer(c_size_t), value :: count
    real(real64), pointer :: to(:), from(:)
    call c_f_pointer(left, to, [count])
    call c_f_pointer(right, from, [count])
    where (abs(from) > abs(to)) to = from
    if (c_associated(context)) to = 0
  end subroutine

  subroutine operations()
    type(coset_reducer_real64) :: extreme, least
    type(coset_reducer_int32) :: bits
    type(coset_operation) :: operation
    real(real64) :: x(100)
    integer(int32) :: b(100)
    real(real64), pointer :: mine(:)
    integer(int32), pointer :: flags(:)
    integer :: status, i
    call coset_operation_create(operation, 'farther from zero', farther, 8)
    call coset_reducer_create(extreme, 100, operation, status=status)
    call refuses(status, 'farther from zero')
    call coset_reducer_create(extreme, 100, operation, 0.0_real64)
    call coset_reducer_create(least, 100, coset_minimum)
    call coset_reducer_create(bits, 100, coset_bit_or)
    x = 5
    b = 8
    !$omp parallel do num_threads(3) private(mine, flags)
    do i = 1, 300
      call coset_reducer_local(extreme, mine)
      if (abs(i - 201) > abs(mine(1 + mod(i, 100)))) mine(1 + mod(i, 100)) = i - 201
      call coset_reducer_local(least, mine)
      mine(1 + mod(i, 100)) = min(mine(1 + mod(i, 100)), real(i, real64))
      call coset_reducer_local(bits, flags)
      flags(1 + mod(i, 100)) = ior(flags(1 + mod(i, 100)), 2**(i / 150))
    end do
    call coset_reducer_combine(extreme, x)
    call holds(coset_member(), x(1) == -101 .and. all(x(2:) == [(i - 201, i = 1, 99)]), &
               'an operation of the program''s own')
    x = 50
    call coset_reducer_combine(least, x)
    call holds(coset_member(), x(1) == 50 .and. all(x(2:) == [(min(i, 50), i = 1, 99)]), 'minimum')
    call coset_reducer_combine(bits, b)
    call holds(coset_member(), b(1) == 15 .and. all(b(2:) == 11), 'bit_or')
    call coset_reducer_create(least, 100, coset_bit_or, status=status)
    call refuses(status, 'BIT_OR')
    call coset_reducer_free(extreme)
    call coset_reducer_free(least)
    call coset_reducer_free(bits)
    call coset_operation_free(operation)
  end subroutine

  !> Of no reducer the library says so; freeing it is fine.
  subroutine nothing()
    type(coset_reducer_int32) :: none
    integer(int32), pointer :: mine(:)
    integer(int32) :: x(2)
    integer :: status
    x = 0
    call coset_reducer_local(none, mine, status)
    call refuses(status, 'NULL')
    call coset_reducer_local_numbered(none, 0, mine, 1, 2, status)
    call refuses(status, 'NULL')
    call coset_reducer_combine(none, x, status=status)
    call refuses(status, 'NULL')
    call coset_reducer_combine_part(none, x, 0, 1, status)
    call refuses(status, 'NULL')
    call coset_reducer_reset(none, status)
    call refuses(status, 'NULL')
    call coset_reducer_free(none, status)
    call holds(coset_member(), status == coset_success, 'freeing no reducer')
  end subroutine

end module
