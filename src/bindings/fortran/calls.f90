! SPDX-License-Identifier: Apache-2.0
! The verbs for arrays that have lost their types: once for all types, and for blocking calls and starts alike. Lengths
! are checked here, since C functions do not take them. A call with a request starts the verb, and refuses arrays with
! gaps, since a packed copy would be gone before the operation is complete.
module coset_calls
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use coset_base
  use coset_c
  use coset_c_pieces
  use coset_c_starts
  implicit none
  private
  public :: call_all_to_all, call_allgather, call_broadcast, call_gather, call_of_whole, call_reduce, call_reduce_scatter
  public :: call_scatter, has_gaps, in_place, is_in_place, start_of_whole

  !> `type` as coset.h numbers it. Some sections have gaps between their elements.
  type, public :: bare_array
    type(c_ptr) :: at
    integer(c_size_t) :: count
    integer(c_int32_t) :: type
    logical :: has_gaps = .false.
  end type

contains

  !> The input of a call with one array, `array`, that holds input and result.
  function in_place(array) result(in)
    type(bare_array), intent(in) :: array
    type(bare_array) :: in
    in = array
    in%at = c_in_place()
  end function

  function is_in_place(in)
    type(bare_array), intent(in) :: in
    logical :: is_in_place
    is_in_place = c_associated(in%at, c_in_place())
  end function

  !> True, and the call is refused, if an array of split phase has gaps. For blocking calls the compiler packs arrays.
  function has_gaps(me, in, out, status, request)
    type(coset_member), intent(in) :: me
    type(bare_array), intent(in) :: in, out
    integer, intent(out), optional :: status
    type(coset_request), intent(in), optional :: request
    logical :: has_gaps
    has_gaps = present(request) .and. (in%has_gaps .or. out%has_gaps)
    if (has_gaps) call refused(me, 'split phase needs arrays without gaps', status)
  end function

  subroutine call_of_whole(c_verb, me, name, in, out, operation, status)
    procedure(c_of_whole) :: c_verb
    type(coset_member), intent(in) :: me
    character(*), intent(in) :: name
    type(bare_array), intent(in) :: in, out
    type(coset_operation), intent(in), optional :: operation
    integer, intent(out), optional :: status
    if (.not. same_length(me, name, in%count, out%count, status)) return
    call arrived(c_verb(me%handle, in%at, out%at, in%count, in%type, chosen(operation)), status)
  end subroutine

  subroutine start_of_whole(c_verb, me, name, in, out, request, operation, status)
    procedure(c_start_of_whole) :: c_verb
    type(coset_member), intent(in) :: me
    character(*), intent(in) :: name
    type(bare_array), intent(in) :: in, out
    type(coset_request), intent(inout) :: request
    type(coset_operation), intent(in), optional :: operation
    integer, intent(out), optional :: status
    if (has_gaps(me, in, out, status, request)) return
    if (.not. same_length(me, name, in%count, out%count, status)) return
    call arrived(c_verb(me%handle, in%at, out%at, in%count, in%type, chosen(operation), request), status)
  end subroutine

  !> Only the root's `out` counts.
  subroutine call_reduce(me, in, out, root, operation, status, request)
    type(coset_member), intent(in) :: me
    type(bare_array), intent(in) :: in, out
    integer, intent(in) :: root
    type(coset_operation), intent(in), optional :: operation
    integer, intent(out), optional :: status
    type(coset_request), intent(inout), optional :: request
    integer(c_int32_t) :: code, to
    to = int(root, c_int32_t)
    if (has_gaps(me, in, out, status, request)) return
    if (c_member_rank(me%handle) == root) then
      if (.not. same_length(me, 'reduce', in%count, out%count, status)) return
    end if
    if (present(request)) then
      code = c_start_reduce(me%handle, in%at, out%at, in%count, in%type, chosen(operation), to, request)
    else
      code = c_reduce(me%handle, in%at, out%at, in%count, in%type, chosen(operation), to)
    end if
    call arrived(code, status)
  end subroutine

  subroutine call_broadcast(me, array, root, status, request)
    type(coset_member), intent(in) :: me
    type(bare_array), intent(in) :: array
    integer, intent(in) :: root
    integer, intent(out), optional :: status
    type(coset_request), intent(inout), optional :: request
    integer(c_int32_t) :: code, from
    from = int(root, c_int32_t)
    if (has_gaps(me, array, array, status, request)) return
    if (present(request)) then
      code = c_start_broadcast(me%handle, array%at, array%count, array%type, from, request)
    else
      code = c_broadcast(me%handle, array%at, array%count, array%type, from)
    end if
    call arrived(code, status)
  end subroutine

  subroutine call_reduce_scatter(me, in, out, operation, counts, status, request)
    type(coset_member), intent(in) :: me
    type(bare_array), intent(in) :: in, out
    type(coset_operation), intent(in), optional :: operation
    integer(int64), intent(in), optional :: counts(:)
    integer, intent(out), optional :: status
    type(coset_request), intent(inout), optional :: request
    integer(c_size_t) :: piece
    integer(c_int32_t) :: code
    if (has_gaps(me, in, out, status, request)) return
    piece = out%count
    if (is_in_place(in)) piece = share_of(me, in%count, counts)
    if (.not. fits(me, 'reduce_scatter', piece, in%count, counts, status)) return
    if (present(request) .and. present(counts)) then
      code = c_start_reduce_scatter_counts(me%handle, in%at, out%at, counts, in%type, chosen(operation), request)
    else if (present(request)) then
      code = c_start_reduce_scatter(me%handle, in%at, out%at, piece, in%type, chosen(operation), request)
    else if (present(counts)) then
      code = c_reduce_scatter_counts(me%handle, in%at, out%at, counts, in%type, chosen(operation))
    else
      code = c_reduce_scatter(me%handle, in%at, out%at, piece, in%type, chosen(operation))
    end if
    call arrived(code, status)
  end subroutine

  subroutine call_allgather(me, in, out, counts, status, request)
    type(coset_member), intent(in) :: me
    type(bare_array), intent(in) :: in, out
    integer(int64), intent(in), optional :: counts(:)
    integer, intent(out), optional :: status
    type(coset_request), intent(inout), optional :: request
    integer(c_size_t) :: piece
    integer(c_int32_t) :: code
    if (has_gaps(me, in, out, status, request)) return
    piece = in%count
    if (is_in_place(in)) piece = share_of(me, out%count, counts)
    if (.not. fits(me, 'allgather', piece, out%count, counts, status)) return
    if (present(request) .and. present(counts)) then
      code = c_start_allgather_counts(me%handle, in%at, out%at, counts, in%type, request)
    else if (present(request)) then
      code = c_start_allgather(me%handle, in%at, out%at, piece, in%type, request)
    else if (present(counts)) then
      code = c_allgather_counts(me%handle, in%at, out%at, counts, in%type)
    else
      code = c_allgather(me%handle, in%at, out%at, piece, in%type)
    end if
    call arrived(code, status)
  end subroutine

  !> Only the root's `out` counts.
  subroutine call_gather(me, in, out, root, counts, status, request)
    type(coset_member), intent(in) :: me
    type(bare_array), intent(in) :: in, out
    integer, intent(in) :: root
    integer(int64), intent(in), optional :: counts(:)
    integer, intent(out), optional :: status
    type(coset_request), intent(inout), optional :: request
    integer(c_int32_t) :: code, to
    to = int(root, c_int32_t)
    if (has_gaps(me, in, out, status, request)) return
    if (.not. fits(me, 'gather', in%count, whole_of(me, in%count, out%count, root, counts), counts, status)) return
    if (present(request) .and. present(counts)) then
      code = c_start_gather_counts(me%handle, in%at, out%at, counts, in%type, to, request)
    else if (present(request)) then
      code = c_start_gather(me%handle, in%at, out%at, in%count, in%type, to, request)
    else if (present(counts)) then
      code = c_gather_counts(me%handle, in%at, out%at, counts, in%type, to)
    else
      code = c_gather(me%handle, in%at, out%at, in%count, in%type, to)
    end if
    call arrived(code, status)
  end subroutine

  !> Only the root's `in` counts.
  subroutine call_scatter(me, root, in, out, counts, status, request)
    type(coset_member), intent(in) :: me
    integer, intent(in) :: root
    type(bare_array), intent(in) :: in, out
    integer(int64), intent(in), optional :: counts(:)
    integer, intent(out), optional :: status
    type(coset_request), intent(inout), optional :: request
    integer(c_int32_t) :: code, from
    from = int(root, c_int32_t)
    if (has_gaps(me, in, out, status, request)) return
    if (.not. fits(me, 'scatter', out%count, whole_of(me, out%count, in%count, root, counts), counts, status)) return
    if (present(request) .and. present(counts)) then
      code = c_start_scatter_counts(me%handle, in%at, out%at, counts, in%type, from, request)
    else if (present(request)) then
      code = c_start_scatter(me%handle, in%at, out%at, out%count, in%type, from, request)
    else if (present(counts)) then
      code = c_scatter_counts(me%handle, in%at, out%at, counts, in%type, from)
    else
      code = c_scatter(me%handle, in%at, out%at, out%count, in%type, from)
    end if
    call arrived(code, status)
  end subroutine

  !> The root's whole array, or what the pieces make in all where a rank does not have it.
  function whole_of(me, piece, of_root, root, counts) result(whole)
    type(coset_member), intent(in) :: me
    integer(c_size_t), intent(in) :: piece, of_root
    integer, intent(in) :: root
    integer(int64), intent(in), optional :: counts(:)
    integer(c_size_t) :: whole
    whole = piece * c_member_size(me%handle)
    if (present(counts)) whole = sum(counts)
    if (c_member_rank(me%handle) == root) whole = of_root
  end function

  subroutine call_all_to_all(me, in, out, status, request)
    type(coset_member), intent(in) :: me
    type(bare_array), intent(in) :: in, out
    integer, intent(out), optional :: status
    type(coset_request), intent(inout), optional :: request
    integer(c_size_t) :: piece
    integer(c_int32_t) :: code
    if (has_gaps(me, in, out, status, request)) return
    piece = share_of(me, in%count)
    if (.not. fits(me, 'all_to_all', piece, in%count, status=status)) return
    if (.not. same_length(me, 'all_to_all', in%count, out%count, status)) return
    if (present(request)) then
      code = c_start_all_to_all(me%handle, in%at, out%at, piece, in%type, request)
    else
      code = c_all_to_all(me%handle, in%at, out%at, piece, in%type)
    end if
    call arrived(code, status)
  end subroutine

end module
