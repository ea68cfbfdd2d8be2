! SPDX-License-Identifier: Apache-2.0
! What all verbs share: handles, constants, and the handling of statuses. Programs use module coset.
module coset_base
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use coset_c
  implicit none
  private
  public :: coset_error_message, coset_status_name
  public :: arrived, chosen, copy_text, c_in_place, fits, length, letters_of, refused, run_errand, same_length, share_of
  public :: written

  ! The values of a status argument, as coset.h explains them. A call without that argument stops the program with the
  ! message unless it succeeds.
  integer, parameter, public :: coset_success = 0
  integer, parameter, public :: coset_argument_error = 1
  integer, parameter, public :: coset_topology_error = 2
  integer, parameter, public :: coset_mismatch_error = 3
  integer, parameter, public :: coset_schedule_error = 4
  integer, parameter, public :: coset_aborted = 5
  integer, parameter, public :: coset_timed_out = 6
  integer, parameter, public :: coset_body_failed = 7
  integer, parameter, public :: coset_out_of_memory = 8
  integer, parameter, public :: coset_unknown_error = 9
  integer, parameter, public :: coset_mpi_error = 10

  !> The operation of a reduction: one of these, or one that coset_operation_create made.
  type, public :: coset_operation
    integer(c_intptr_t) :: code = 0
  end type

  !> What a reducer's combination does with the target's own values.
  integer, parameter, public :: coset_combine_add = 0
  integer, parameter, public :: coset_combine_assign = 1

  type(coset_operation), parameter, public :: coset_plus = coset_operation(101)         !< numbers; integers wrap
  type(coset_operation), parameter, public :: coset_multiplies = coset_operation(102)
  type(coset_operation), parameter, public :: coset_minimum = coset_operation(103)      !< not of complex numbers
  type(coset_operation), parameter, public :: coset_maximum = coset_operation(104)
  type(coset_operation), parameter, public :: coset_bit_and = coset_operation(105)      !< integers
  type(coset_operation), parameter, public :: coset_bit_or = coset_operation(106)
  type(coset_operation), parameter, public :: coset_bit_xor = coset_operation(107)
  type(coset_operation), parameter, public :: coset_logical_and = coset_operation(108)  !< of 0 and other numbers
  type(coset_operation), parameter, public :: coset_logical_or = coset_operation(109)
  type(coset_operation), parameter, public :: coset_logical_xor = coset_operation(110)
  !> Reals: the same bits for any number of ranks, any order, any plan.
  type(coset_operation), parameter, public :: coset_reproducible_plus = coset_operation(113)

  !> How the ranks of a team of its own threads are placed, see topology.hpp.
  integer, parameter, public :: coset_compact = 0, coset_scatter = 1, coset_unbound = 2
  !> What a rank does while it waits for another: spin shortly, then yield, then sleep; or only one of these.
  integer, parameter, public :: coset_wait_automatic = 0, coset_wait_spin = 1, coset_wait_yield = 2, &
                                coset_wait_block = 3

  type, public :: coset_team
    type(c_ptr) :: handle = c_null_ptr
  end type

  !> One rank's handle. Only the thread that is this rank may use it.
  type, public :: coset_member
    type(c_ptr) :: handle = c_null_ptr
  end type

  abstract interface
    !> What a rank runs. `status` is 0 or an error: the status of a call that has just failed here is passed on.
    subroutine coset_body(me, context, status)
      import :: coset_member
      type(coset_member), intent(in) :: me
      class(*), intent(inout) :: context
      integer, intent(out) :: status
    end subroutine
  end interface
  public :: coset_body

  !> The data that coset_team_run passes through C to its ranks.
  type, public :: errand
    procedure(coset_body), pointer, nopass :: body
    class(*), pointer :: context
  end type

contains

  !> The body that C calls.
  function run_errand(me, context) bind(c, name='coset_fortran_run_errand') result(status)
    type(c_ptr), value :: me, context
    integer(c_int) :: status
    type(errand), pointer :: sent
    integer :: of_body
    call c_f_pointer(context, sent)
    call sent%body(coset_member(me), sent%context, of_body)
    status = int(of_body, c_int)
  end function

  ! Expressions give the lengths of texts. gfortran 12 keeps the length of a result with (:) in a static variable of the
  ! caller, which threads overwrite for one another.

  !> The message of the calling thread's latest failure, with the values at fault; '' before the first.
  function coset_error_message() result(message)
    character(c_strlen(c_error_message())) :: message
    call copy_text(c_error_message(), message)
  end function

  !> 'COSET_SUCCESS' and so on; 'unknown status' for other numbers.
  function coset_status_name(status) result(name)
    integer, intent(in) :: status
    character(c_strlen(c_status_name(int(status, c_int32_t)))) :: name
    call copy_text(c_status_name(int(status, c_int32_t)), name)
  end function

  subroutine copy_text(from, to)
    type(c_ptr), intent(in) :: from
    character(*), intent(out) :: to
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(from, letters, [len(to)])
    do i = 1, len(to)
      to(i:i) = letters(i)
    end do
  end subroutine

  !> Returns a C function's status to the caller, or stops with its message if the caller has no status argument.
  subroutine arrived(code, status)
    integer(c_int32_t), intent(in) :: code
    integer, intent(out), optional :: status
    if (present(status)) then
      status = code
    else if (code /= coset_success) then
      error stop coset_status_name(int(code))//': '//coset_error_message()
    end if
  end subroutine

  !> The operation given, or the sum by default.
  pure function chosen(operation) result(code)
    type(coset_operation), intent(in), optional :: operation
    integer(c_intptr_t) :: code
    code = coset_plus%code
    if (present(operation)) code = operation%code
  end function

  !> The number of elements of an array of this shape. Not its size(): gfortran 12 gives empty sections extents below 0.
  pure function length(extents)
    integer(c_size_t), intent(in) :: extents(:)
    integer(c_size_t) :: length
    length = product(max(extents, 0_c_size_t))
  end function

  !> Tells every rank that this one has called a verb wrongly, so that none waits for it; only the caller if `me` is no
  !> member.
  subroutine refused(me, reason, status)
    type(coset_member), intent(in) :: me
    character(*), intent(in) :: reason
    integer, intent(out), optional :: status
    call arrived(c_member_refuse(me%handle, reason//c_null_char), status)
  end subroutine

  !> False, and the call is refused, if arrays have different lengths.
  function same_length(me, verb, in, out, status)
    type(coset_member), intent(in) :: me
    character(*), intent(in) :: verb
    integer(c_size_t), intent(in) :: in, out
    integer, intent(out), optional :: status
    logical :: same_length
    same_length = in == out
    if (.not. same_length) call refused(me, verb//': from '//written(in)//' elements to '//written(out), status)
  end function

  !> This rank's number of elements of `whole`: its count, or the even share; −1, which fits nothing, if there is none.
  function share_of(me, whole, counts) result(piece)
    type(coset_member), intent(in) :: me
    integer(c_size_t), intent(in) :: whole
    integer(int64), intent(in), optional :: counts(:)
    integer(c_size_t) :: piece, ranks
    ranks = c_member_size(me%handle)
    piece = -1
    if (present(counts)) then
      if (size(counts) == ranks) piece = counts(c_member_rank(me%handle) + 1)
    else if (ranks > 0) then
      if (mod(whole, ranks) == 0) piece = whole / ranks
    end if
  end function

  !> False, and the call is refused, if the pieces of all ranks do not make the whole.
  function fits(me, verb, piece, whole, counts, status)
    type(coset_member), intent(in) :: me
    character(*), intent(in) :: verb
    integer(c_size_t), intent(in) :: piece, whole
    integer(int64), intent(in), optional :: counts(:)
    integer, intent(out), optional :: status
    logical :: fits
    integer(c_size_t) :: share
    fits = .true.
    if (.not. c_associated(me%handle)) return  ! the C function reports it
    share = share_of(me, whole, counts)
    fits = piece >= 0 .and. piece == share
    if (fits .and. present(counts)) fits = all(counts >= 0) .and. sum(counts) == whole
    if (.not. fits) call refused(me, verb//': '//written(max(piece, 0_c_size_t))//' elements are no piece of '// &
                                 written(whole)//' for '//written(int(c_member_size(me%handle), c_size_t))// &
                                 ' ranks and these counts', status)
  end function

  !> COSET_IN_PLACE
  pure function c_in_place() result(mark)
    type(c_ptr) :: mark
    mark = transfer(-1_c_intptr_t, c_null_ptr)
  end function

  pure integer function letters_of(number)
    integer(c_size_t), intent(in) :: number
    character(20) :: buffer
    write (buffer, '(i0)') number
    letters_of = len_trim(buffer)
  end function

  pure function written(number) result(text)
    integer(c_size_t), intent(in) :: number
    character(letters_of(number)) :: text
    write (text, '(i0)') number
  end function

end module
