! SPDX-License-Identifier: Apache-2.0
! Plans, once for all types: coset_plan is a barrier's, and those of arrays extend it.
module coset_plans
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use coset_base
  use coset_c
  use coset_calls
  use coset_verb_numbers
  implicit none
  private
  public :: coset_plan_count, coset_plan_create, coset_plan_describe, coset_plan_execute, coset_plan_free
  public :: coset_plan_start, execute_plan, make_plan

  !> Which bits a plan has to give: the same on all ranks, by default, or those of any plan.
  integer, parameter, public :: coset_same_on_all_ranks = 0, coset_per_rank = 1

  type, public :: coset_plan
    private
    type(c_ptr) :: handle = c_null_ptr
    type(coset_verb) :: verb
    integer(c_size_t) :: count = 0
    integer :: root = 0
    integer(c_size_t), allocatable :: counts(:)
  end type

  interface coset_plan_create
    procedure create_barrier
  end interface
  interface coset_plan_execute
    procedure execute_barrier
  end interface
  interface coset_plan_start
    procedure start_barrier
  end interface

contains

  !> call coset_plan_create(plan, team [, status]). A barrier's, of type(coset_plan).
  subroutine create_barrier(plan, team, status)
    type(coset_plan), intent(inout) :: plan
    type(coset_team), intent(in) :: team
    integer, intent(out), optional :: status
    integer(c_int32_t), parameter :: ignored = 0
    call make_plan(plan, team, coset_verb_barrier, 0_c_size_t, ignored, status=status)
  end subroutine

  !> call coset_plan_execute(plan, me [, status])
  subroutine execute_barrier(plan, me, status)
    type(coset_plan), intent(in) :: plan
    type(coset_member), intent(in) :: me
    integer, intent(out), optional :: status
    call arrived(c_plan_execute(plan%handle, me%handle, c_null_ptr, c_null_ptr), status)
  end subroutine

  !> call coset_plan_start(plan, me, request [, status])
  subroutine start_barrier(plan, me, request, status)
    type(coset_plan), intent(in) :: plan
    type(coset_member), intent(in) :: me
    type(coset_request), intent(inout) :: request
    integer, intent(out), optional :: status
    call arrived(c_plan_start(plan%handle, me%handle, c_null_ptr, c_null_ptr, request), status)
  end subroutine

  !> When no rank executes it, and before its team is freed.
  subroutine coset_plan_free(plan, status)
    class(coset_plan), intent(inout) :: plan
    integer, intent(out), optional :: status
    call arrived(c_plan_free(plan%handle), status)
    plan%handle = c_null_ptr
    plan%count = 0
  end subroutine

  !> The length of the whole vector.
  function coset_plan_count(plan) result(count)
    class(coset_plan), intent(in) :: plan
    integer(int64) :: count
    count = plan%count
  end function

  !> 'direct, staged, forward', for logs.
  function coset_plan_describe(plan) result(text)
    class(coset_plan), intent(in) :: plan
    character(c_strlen(c_plan_describe(plan%handle))) :: text
    call copy_text(c_plan_describe(plan%handle), text)
  end function

  !> `type` as coset.h numbers it.
  subroutine make_plan(plan, team, verb, count, type, operation, root, counts, algorithm, storage, bits, &
                       segment_bytes, status)
    class(coset_plan), intent(inout) :: plan
    type(coset_team), intent(in) :: team
    type(coset_verb), intent(in) :: verb
    integer(c_size_t), intent(in) :: count
    integer(c_int32_t), intent(in) :: type
    type(coset_operation), intent(in), optional :: operation
    integer, intent(in), optional :: root, bits
    integer(int64), intent(in), optional :: counts(:), segment_bytes
    character(*), intent(in), optional :: algorithm, storage
    integer, intent(out), optional :: status
    type(c_plan_options) :: options
    character(kind=c_char), allocatable, target :: of_algorithm(:), of_storage(:)
    integer(c_size_t), allocatable, target :: of_ranks(:)
    integer(c_int32_t) :: code
    options%bytes = c_sizeof(options)
    if (present(algorithm)) then
      of_algorithm = letters(algorithm)
      options%algorithm = c_loc(of_algorithm)
    end if
    if (present(storage)) then
      of_storage = letters(storage)
      options%storage = c_loc(of_storage)
    end if
    if (present(bits)) options%bits = int(bits, c_int32_t)
    if (present(root)) options%root = int(root, c_int32_t)
    if (present(segment_bytes)) options%segment_bytes = segment_bytes
    if (present(counts)) then
      if (size(counts) /= c_team_size(team%handle)) then
        call refused(coset_member(), 'plan: '//written(size(counts, kind=c_size_t))//' counts for '// &
                     written(int(c_team_size(team%handle), c_size_t))//' ranks', status)
        return
      end if
      of_ranks = counts
      options%counts = c_loc(of_ranks)
    end if
    code = c_plan_create(team%handle, verb%code, count, type, chosen(operation), options, plan%handle)
    if (code == coset_success) then
      plan%verb = verb
      plan%count = count
      plan%root = options%root
      if (allocated(plan%counts)) deallocate (plan%counts)
      if (present(counts)) plan%counts = counts
    end if
    call arrived(code, status)
  end subroutine

  pure function letters(text) result(array)
    character(*), intent(in) :: text
    character(kind=c_char) :: array(len(text) + 1)
    array = transfer(text//c_null_char, array)
  end function

  !> With a request it starts the plan.
  subroutine execute_plan(plan, me, in, out, status, request)
    class(coset_plan), intent(in) :: plan
    type(coset_member), intent(in) :: me
    type(bare_array), intent(in) :: in, out
    integer, intent(out), optional :: status
    type(coset_request), intent(inout), optional :: request
    if (has_gaps(me, in, out, status, request)) return
    if (.not. as_planned(plan, me, in, out, status)) return
    if (present(request)) then
      call arrived(c_plan_start(plan%handle, me%handle, in%at, out%at, request), status)
    else
      call arrived(c_plan_execute(plan%handle, me%handle, in%at, out%at), status)
    end if
  end subroutine

  !> False, and the call is refused, if an array that this rank gives or gets has another length than the plan's.
  function as_planned(plan, me, in, out, status)
    class(coset_plan), intent(in) :: plan
    type(coset_member), intent(in) :: me
    type(bare_array), intent(in) :: in, out
    integer, intent(out), optional :: status
    logical :: as_planned
    integer(c_size_t) :: gives, gets
    logical :: is_root, is_one_array
    as_planned = .true.
    if (.not. (c_associated(me%handle) .and. c_associated(plan%handle))) return  ! the C function reports it
    is_root = c_member_rank(me%handle) == plan%root
    is_one_array = is_in_place(in)
    gives = plan%count
    gets = plan%count
    select case (shape_of(plan%verb%code))
    case (shape_to_root)
      if (.not. is_root) gets = out%count
    case (shape_from_root)
      gives = in%count
    case (shape_to_pieces)
      if (.not. is_one_array) gets = share_of(me, plan%count, plan%counts)
    case (shape_from_pieces)
      gives = share_of(me, plan%count, plan%counts)
    case (shape_pieces_to_root)
      gives = share_of(me, plan%count, plan%counts)
      if (.not. is_root) gets = out%count
    case (shape_pieces_from_root)
      if (.not. is_root) gives = in%count
      if (.not. (is_root .and. is_one_array)) gets = share_of(me, plan%count, plan%counts)
    end select
    as_planned = (is_one_array .or. in%count == gives) .and. out%count == gets
    if (.not. as_planned) call refused(me, 'plan: from '//written(in%count)//' elements to '//written(out%count)// &
                                       ', planned from '//written(gives)//' to '//written(gets), status)
  end function

end module
