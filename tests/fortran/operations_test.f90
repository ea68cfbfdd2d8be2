! SPDX-License-Identifier: Apache-2.0
! Operations of other kinds, and of the program's own; members that are split.
module operations_test
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use check
  use coset
  implicit none
  private
  public :: test_operations

contains

  subroutine test_operations()
    call on_all_sizes(built_in)
    call on_all_sizes(own)
    call on_all_sizes(split)
  end subroutine

  subroutine built_in(me, context, status)
    type(coset_member), intent(in) :: me
    class(*), intent(inout) :: context
    integer, intent(out) :: status
    integer :: rank, last, bits
    integer(int64) :: wide
    real(real32) :: single
    real(real64) :: double
    status = 0
    rank = coset_member_rank(me)
    last = coset_member_size(me) - 1
    double = -rank
    call coset_allreduce(me, double, coset_minimum)
    call holds(me, double == -last, 'minimum')
    single = rank + 0.5
    call coset_allreduce(me, single, coset_maximum)
    call holds(me, single == last + 0.5, 'maximum')
    bits = ibset(0, rank)
    call coset_allreduce(me, bits, coset_bit_or)
    call holds(me, bits == 2**(last + 1) - 1, 'bit_or')
    bits = ibclr(15, rank)
    call coset_allreduce(me, bits, coset_bit_and)
    call holds(me, bits == 15 - (2**(last + 1) - 1) .or. last == 0 .and. bits == 14, 'bit_and')
    wide = 1
    call coset_allreduce(me, wide, coset_bit_xor)
    call holds(me, wide == mod(last + 1, 2), 'bit_xor')
    bits = rank
    call coset_allreduce(me, bits, coset_logical_and)
    call holds(me, bits == 0, 'logical_and')
    bits = rank
    call coset_allreduce(me, bits, coset_logical_or)
    call holds(me, bits == merge(1, 0, last > 0), 'logical_or')
    double = merge(1e20_real64, 1.0_real64, rank == 0)
    call coset_allreduce(me, double, coset_reproducible_plus)
    call holds(me, double == 1e20_real64, 'reproducible_plus')
  end subroutine

  !> The sum modulo what `context` points to.
  subroutine add_modulo(left, right, count, context) bind(c)
    type(c_ptr), value :: left, right, context
    integer(c_size_t), value :: count
    integer(int32), pointer :: to(:), from(:), modulus
    call c_f_pointer(left, to, [count])
    call c_f_pointer(right, from, [count])
    call c_f_pointer(context, modulus)
    to = mod(to + from, modulus)
  end subroutine

  !> Digits one after the other: not commutative.
  subroutine append(left, right, count, context) bind(c)
    type(c_ptr), value :: left, right, context
    integer(c_size_t), value :: count
    integer(int64), pointer :: to(:), from(:)
    call c_f_pointer(left, to, [count])
    call c_f_pointer(right, from, [count])
    to = to * 10**int(floor(log10(real(from, real64))) + 1) + from
    if (c_associated(context)) to = -1
  end subroutine

  subroutine own(me, context, status)
    type(coset_member), intent(in) :: me
    class(*), intent(inout) :: context
    integer, intent(out) :: status
    type(coset_operation) :: operation
    integer(int32), target :: modulus
    integer(int32) :: values(100)
    integer(int64) :: number
    integer :: i, last
    status = 0
    last = coset_member_size(me) - 1
    modulus = 5
    values = [(coset_member_rank(me) + i, i = 1, 100)]
    call coset_operation_create(operation, 'add modulo 5', add_modulo, 4, exact=.true., context=c_loc(modulus))
    call coset_allreduce(me, values, operation)
    if (last > 0) call holds(me, all(values == [(mod((last + 1) * i + last * (last + 1) / 2, 5), i = 1, 100)]), &
                             'an operation of the program''s own')
    call coset_operation_free(operation)

    call coset_operation_create(operation, 'append', append, 8, commutative=.false.)
    number = coset_member_rank(me) + 1
    call coset_allreduce(me, number, operation)
    call holds(me, number == 1234 / 10**(3 - last), 'in the order of the ranks')
    call coset_operation_free(operation)
    call coset_operation_create(operation, 'of nothing', append, 0, status=status)
    call holds(me, status == coset_argument_error, 'an operation on elements of no bytes')
    status = 0
  end subroutine

  subroutine split(me, context, status)
    type(coset_member), intent(in) :: me
    class(*), intent(inout) :: context
    integer, intent(out) :: status
    type(coset_member) :: part
    integer :: rank, total
    rank = coset_member_rank(me)
    call coset_member_split(me, mod(rank, 2), -rank, part, status)
    total = rank
    call coset_allreduce(part, total)
    call holds(me, total == sum_of_alike(), 'the sum of those alike')
    call holds(me, coset_member_rank(part) == (coset_member_size(me) - 1 - rank) / 2, 'the rank among those alike')
    call coset_member_free(part)
    call holds(me, coset_member_node(me) >= -1, 'a node, or none')
  contains
    integer function sum_of_alike()
      integer :: r
      sum_of_alike = sum([(merge(r, 0, mod(r, 2) == mod(rank, 2)), r = 0, coset_member_size(me) - 1)])
    end function
  end subroutine

end module
