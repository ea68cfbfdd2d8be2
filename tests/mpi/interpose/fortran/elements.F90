! SPDX-License-Identifier: Apache-2.0
! All predefined datatypes of MPI's for Fortran, with values to send and the operations that MPI defines for them.
#include "handle.inc"

module elements
  use world
  use, intrinsic :: iso_fortran_env, only: int8, int64, real32, real64
  implicit none
  private
  public :: element, operation, all_elements, operations_for, draw

  ! MPI's groups, by which it allows operations (MPI 4.0, section 6.9.2), a bit each.
  integer, parameter :: whole = 1, floating = 2, complex_number = 4, truth = 8, byte = 16, offset = 32
  integer, parameter :: pair_of_wholes = 64, pair_of_reals = 128, moved_only = 256
  integer, parameter :: wholes = whole + offset, ordered = wholes + floating, numbers = ordered + complex_number
  integer, parameter :: pairs = pair_of_wholes + pair_of_reals

  type element
    character(24) :: name
    HANDLE(MPI_Datatype) :: type
    integer :: group, bytes
    !> Of small numbers, of which sums and products over ten ranks are exact.
    integer(int8), allocatable :: values(:)
  end type

  type operation
    character(12) :: name
    HANDLE(MPI_Op) :: handle
    integer :: groups
  end type

  integer, parameter :: values_of_each = 4096
contains
  !> The same for the same seed, on all ranks.
  pure integer function draw(seed, below)
    integer, intent(in) :: seed, below
    integer(int64) :: x
    integer :: i
    x = seed
    do i = 1, 3
      x = mod(x * 48271 + 1, 2147483647_int64)
    end do
    draw = int(mod(x / 1024, int(below, int64)))
  end function

  !> Those that this MPI has.
  function all_elements() result(all)
    type(element), allocatable :: all(:)
    allocate (all(0))
    ! A name within quotes is replaced, too, as Fortran's preprocessor is of the old kind.
#define ADD(name, group) call add(all, 'name', name, group)
    ADD(MPI_INTEGER, whole)
    ADD(MPI_INTEGER1, whole)
    ADD(MPI_INTEGER2, whole)
    ADD(MPI_INTEGER4, whole)
    ADD(MPI_INTEGER8, whole)
    ADD(MPI_INTEGER16, whole)
    ADD(MPI_REAL, floating)
    ADD(MPI_DOUBLE_PRECISION, floating)
    ADD(MPI_REAL4, floating)
    ADD(MPI_REAL8, floating)
    ADD(MPI_REAL16, floating)
    ADD(MPI_COMPLEX, complex_number)
    ADD(MPI_DOUBLE_COMPLEX, complex_number)
    ADD(MPI_COMPLEX8, complex_number)
    ADD(MPI_COMPLEX16, complex_number)
    ADD(MPI_COMPLEX32, complex_number)
    ADD(MPI_LOGICAL, truth)
    ADD(MPI_BYTE, byte)
    ADD(MPI_AINT, whole)
    ADD(MPI_OFFSET, offset)
    ADD(MPI_COUNT, whole)
    ADD(MPI_2INTEGER, pair_of_wholes)
    ADD(MPI_2REAL, pair_of_reals)
    ADD(MPI_2DOUBLE_PRECISION, pair_of_reals)
    ADD(MPI_CHARACTER, moved_only)
    ADD(MPI_PACKED, moved_only)
#if defined(COSET_EXTENSIONS)
    ADD(MPI_LOGICAL1, truth)
    ADD(MPI_LOGICAL2, truth)
    ADD(MPI_LOGICAL4, truth)
    ADD(MPI_LOGICAL8, truth)
    ADD(MPI_REAL2, floating)
    ADD(MPI_2COMPLEX, moved_only)
    ADD(MPI_2DOUBLE_COMPLEX, moved_only)
#endif
#undef ADD
  end function

  subroutine add(all, name, type, group)
    type(element), allocatable, intent(inout) :: all(:)
    character(*), intent(in) :: name
    HANDLE(MPI_Datatype), intent(in) :: type
    integer, intent(in) :: group
    type(element) :: one
    integer :: code, i, first
    one%name = name
    one%type = type
    one%group = group
    call mpi_type_size(type, one%bytes, code)
    if (code /= MPI_SUCCESS .or. one%bytes == 0) return
    if (group == floating .and. one%bytes == 2) one%group = moved_only  ! the compiler has no such numbers
    allocate (one%values(one%bytes * values_of_each))
    do i = 1, values_of_each
      first = (i - 1) * one%bytes
      one%values(first + 1:first + one%bytes) = value_of(one, i)
    end do
    all = [all, one]
  end subroutine

  pure function value_of(of, seed) result(bytes)
    type(element), intent(in) :: of
    integer, intent(in) :: seed
    integer(int8) :: bytes(of%bytes)
    real(real64), parameter :: reals(6) = [-2.0, -1.0, -0.5, 0.5, 1.0, 1.0]
    real(real64) :: x
    integer :: half
    half = of%bytes / 2
    x = reals(1 + draw(seed, size(reals)))
    select case (of%group)
    case (whole)
      bytes = bytes_of_whole(draw(seed, 4) - 1, of%bytes)
    case (offset)  ! Open MPI 4.1.4 takes the extremes of offsets as if they had no sign
      bytes = bytes_of_whole(draw(seed, 4), of%bytes)
    case (truth)
      bytes = bytes_of_whole(draw(seed, 2), of%bytes)
    case (floating)
      bytes = bytes_of_real(x, of%bytes)
    case (complex_number)  ! of whose products no part is 0, which would have one sign or the other
      bytes = [bytes_of_real(2 * x, half), bytes_of_real(x, half)]
    case (pair_of_wholes)  ! few values, so that several ranks have the extreme one and the lowest index decides
      bytes = [bytes_of_whole(draw(seed, 3), half), bytes_of_whole(draw(seed + 1, 5), half)]
    case (pair_of_reals)
      bytes = [bytes_of_real(real(draw(seed, 3), real64), half), bytes_of_real(real(draw(seed + 1, 5), real64), half)]
    case default
      bytes = bytes_of_whole(draw(seed, 256), of%bytes)
    end select
  end function

  pure function bytes_of_whole(x, length) result(bytes)
    integer, intent(in) :: x, length
    integer(int8) :: bytes(length), low(8)
    low = transfer(int(x, int64), low)
    bytes = merge(-1_int8, 0_int8, x < 0)
    bytes(:min(length, 8)) = low(:min(length, 8))
  end function

  !> Of 16 bytes both MPIs make C's long double, of which less may be data.
  pure function bytes_of_real(x, length) result(bytes)
    real(real64), intent(in) :: x
    integer, intent(in) :: length
    integer(int8) :: bytes(length)
    integer, parameter :: long_double = selected_real_kind(18)
    integer, parameter :: data = merge(10, 16, digits(1.0_long_double) == 64)
    select case (length)
    case (4)
      bytes = transfer(real(x, real32), bytes)
    case (8)
      bytes = transfer(x, bytes)
    case default
      bytes = transfer(real(x, long_double), bytes)
      bytes(data + 1:) = 0
    end select
  end function

  !> Those that MPI defines for it, and this MPI carries out.
  function operations_for(of) result(these)
    type(element), intent(in) :: of
    type(operation), allocatable :: these(:)
    integer(int8) :: in(of%bytes), inout(of%bytes)
    integer :: i, code
    these = [operation('MPI_SUM', MPI_SUM, numbers), operation('MPI_PROD', MPI_PROD, numbers), &
             operation('MPI_MIN', MPI_MIN, ordered), operation('MPI_MAX', MPI_MAX, ordered), &
             operation('MPI_BAND', MPI_BAND, wholes + byte), operation('MPI_BOR', MPI_BOR, wholes + byte), &
             operation('MPI_BXOR', MPI_BXOR, wholes + byte), operation('MPI_LAND', MPI_LAND, truth), &
             operation('MPI_LOR', MPI_LOR, truth), operation('MPI_LXOR', MPI_LXOR, truth), &
             operation('MPI_MINLOC', MPI_MINLOC, pairs), operation('MPI_MAXLOC', MPI_MAXLOC, pairs)]
    these = pack(these, iand(these%groups, of%group) /= 0)
    do i = size(these), 1, -1
      in = of%values(:of%bytes)
      inout = in
      call mpi_reduce_local(in, inout, 1, of%type, these(i)%handle, code)
      if (code /= MPI_SUCCESS) these = [these(:i - 1), these(i + 1:)]
    end do
  end function
end module
