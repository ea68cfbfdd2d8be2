! SPDX-License-Identifier: Apache-2.0
! The functions of coset.h that the modules call, as C has them. Each has its own interface: gfortran 12 forgets in some
! expressions that arguments of `procedure(interface), bind(c)` are values.
module coset_c
  use, intrinsic :: iso_c_binding
  implicit none
  public

  !> An operation under way. Until it is complete, its arrays and this object must not be touched.
  type, bind(c) :: coset_request
    integer(c_int64_t) :: opaque(4) = 0
  end type

  type, bind(c) :: c_reducer_options
    integer(c_size_t) :: bytes, block_bytes = 0, most_bytes = 0
  end type

  type, bind(c) :: c_team_options
    integer(c_size_t) :: bytes
    integer(c_int32_t) :: ranks = 0, placement = 0, waiting = 0, processor_count = 0
    type(c_ptr) :: processors = c_null_ptr
  end type

  abstract interface
    !> left(i) = left(i) ∘ right(i) for `count` elements.
    subroutine coset_fold(left, right, count, context) bind(c)
      import
      type(c_ptr), value :: left, right, context
      integer(c_size_t), value :: count
    end subroutine

    function c_of_whole(me, in, out, count, type, operation) bind(c)
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type
      integer(c_intptr_t), value :: operation
      integer(c_int32_t) :: c_of_whole
    end function
  end interface

  interface
    function c_allreduce(me, in, out, count, type, operation) bind(c, name='coset_allreduce')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type
      integer(c_intptr_t), value :: operation
      integer(c_int32_t) :: c_allreduce
    end function

    function c_allreduce_view(me, in, count, type, operation, out) bind(c, name='coset_allreduce_view')
      import
      type(c_ptr), value :: me, in
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type
      integer(c_intptr_t), value :: operation
      type(c_ptr), intent(inout) :: out
      integer(c_int32_t) :: c_allreduce_view
    end function

    function c_reduce_shared(me, in, out, count, type, operation) bind(c, name='coset_reduce_shared')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type
      integer(c_intptr_t), value :: operation
      integer(c_int32_t) :: c_reduce_shared
    end function

    function c_scan(me, in, out, count, type, operation) bind(c, name='coset_scan')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type
      integer(c_intptr_t), value :: operation
      integer(c_int32_t) :: c_scan
    end function

    function c_exclusive_scan(me, in, out, count, type, operation) bind(c, name='coset_exclusive_scan')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type
      integer(c_intptr_t), value :: operation
      integer(c_int32_t) :: c_exclusive_scan
    end function

    function c_reduce_scatter(me, in, out, count, type, operation) bind(c, name='coset_reduce_scatter')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type
      integer(c_intptr_t), value :: operation
      integer(c_int32_t) :: c_reduce_scatter
    end function

    function c_member_rank(me) bind(c, name='coset_member_rank')
      import
      type(c_ptr), value :: me
      integer(c_int32_t) :: c_member_rank
    end function

    function c_member_size(me) bind(c, name='coset_member_size')
      import
      type(c_ptr), value :: me
      integer(c_int32_t) :: c_member_size
    end function

    function c_member_node(me) bind(c, name='coset_member_node')
      import
      type(c_ptr), value :: me
      integer(c_int32_t) :: c_member_node
    end function

    function c_member_free(me) bind(c, name='coset_member_free')
      import
      type(c_ptr), value :: me
      integer(c_int32_t) :: c_member_free
    end function

    function c_team_leave(me) bind(c, name='coset_team_leave')
      import
      type(c_ptr), value :: me
      integer(c_int32_t) :: c_team_leave
    end function

    function c_team_free(me) bind(c, name='coset_team_free')
      import
      type(c_ptr), value :: me
      integer(c_int32_t) :: c_team_free
    end function

    function c_team_size(me) bind(c, name='coset_team_size')
      import
      type(c_ptr), value :: me
      integer(c_int32_t) :: c_team_size
    end function

    function c_barrier(me) bind(c, name='coset_barrier')
      import
      type(c_ptr), value :: me
      integer(c_int32_t) :: c_barrier
    end function

    function c_reduce(me, in, out, count, type, operation, root) bind(c, name='coset_reduce')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type, root
      integer(c_intptr_t), value :: operation
      integer(c_int32_t) :: c_reduce
    end function

    function c_reduce_scatter_counts(me, in, out, counts, type, operation) bind(c, name='coset_reduce_scatter_counts')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), intent(in) :: counts(*)
      integer(c_int32_t), value :: type
      integer(c_intptr_t), value :: operation
      integer(c_int32_t) :: c_reduce_scatter_counts
    end function

    function c_allgather(me, in, out, piece, type) bind(c, name='coset_allgather')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: piece
      integer(c_int32_t), value :: type
      integer(c_int32_t) :: c_allgather
    end function

    function c_allgather_counts(me, in, out, counts, type) bind(c, name='coset_allgather_counts')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), intent(in) :: counts(*)
      integer(c_int32_t), value :: type
      integer(c_int32_t) :: c_allgather_counts
    end function

    function c_broadcast(me, data, count, type, root) bind(c, name='coset_broadcast')
      import
      type(c_ptr), value :: me, data
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type, root
      integer(c_int32_t) :: c_broadcast
    end function

    function c_request_test(request, complete) bind(c, name='coset_request_test')
      import
      type(coset_request), intent(inout) :: request
      logical(c_bool), intent(out) :: complete
      integer(c_int32_t) :: c_request_test
    end function

    function c_request_wait(request) bind(c, name='coset_request_wait')
      import
      type(coset_request), intent(inout) :: request
      integer(c_int32_t) :: c_request_wait
    end function

    function c_request_wait_for(request, nanoseconds, complete) bind(c, name='coset_request_wait_for')
      import
      type(coset_request), intent(inout) :: request
      integer(c_int64_t), value :: nanoseconds
      logical(c_bool), intent(out) :: complete
      integer(c_int32_t) :: c_request_wait_for
    end function

    function c_team_create(options, made) bind(c, name='coset_team_create')
      import
      type(c_team_options), intent(in) :: options
      type(c_ptr), intent(inout) :: made
      integer(c_int32_t) :: c_team_create
    end function

    function c_team_adopt(ranks, options, made) bind(c, name='coset_team_adopt')
      import
      integer(c_int32_t), value :: ranks
      type(c_team_options), intent(in) :: options
      type(c_ptr), intent(inout) :: made
      integer(c_int32_t) :: c_team_adopt
    end function

    function c_team_run(team, body, context) bind(c, name='coset_team_run')
      import
      type(c_ptr), value :: team, context
      type(c_funptr), value :: body
      integer(c_int32_t) :: c_team_run
    end function

    function c_team_join(team, rank, nanoseconds, me) bind(c, name='coset_team_join')
      import
      type(c_ptr), value :: team
      integer(c_int32_t), value :: rank
      integer(c_int64_t), value :: nanoseconds
      type(c_ptr), intent(inout) :: me
      integer(c_int32_t) :: c_team_join
    end function

    function c_team_abort(team, reason) bind(c, name='coset_team_abort')
      import
      type(c_ptr), value :: team
      character(kind=c_char), intent(in) :: reason(*)
      integer(c_int32_t) :: c_team_abort
    end function

    subroutine c_end_idle_teams() bind(c, name='coset_end_idle_teams')
    end subroutine

    function c_member_refuse(me, reason) bind(c, name='coset_member_refuse')
      import
      type(c_ptr), value :: me
      character(kind=c_char), intent(in) :: reason(*)
      integer(c_int32_t) :: c_member_refuse
    end function

    function c_member_split(me, colour, key, part) bind(c, name='coset_member_split')
      import
      type(c_ptr), value :: me
      integer(c_int32_t), value :: colour, key
      type(c_ptr), intent(inout) :: part
      integer(c_int32_t) :: c_member_split
    end function

    function c_member_reset(me, nanoseconds) bind(c, name='coset_member_reset')
      import
      type(c_ptr), value :: me
      integer(c_int64_t), value :: nanoseconds
      integer(c_int32_t) :: c_member_reset
    end function

    function c_operation_create(name, fold, context, element_bytes, flags, made) bind(c, name='coset_operation_create')
      import
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr), value :: fold
      type(c_ptr), value :: context
      integer(c_size_t), value :: element_bytes
      integer(c_int32_t), value :: flags
      integer(c_intptr_t), intent(inout) :: made
      integer(c_int32_t) :: c_operation_create
    end function

    function c_operation_free(operation) bind(c, name='coset_operation_free')
      import
      integer(c_intptr_t), value :: operation
      integer(c_int32_t) :: c_operation_free
    end function

    function c_reducer_create(count, type, operation, identity, options, made) bind(c, name='coset_reducer_create')
      import
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type
      integer(c_intptr_t), value :: operation
      type(c_ptr), value :: identity
      type(c_reducer_options), intent(in) :: options
      type(c_ptr), intent(inout) :: made
      integer(c_int32_t) :: c_reducer_create
    end function

    function c_reducer_local(reducer, first, count, elements) bind(c, name='coset_reducer_local')
      import
      type(c_ptr), value :: reducer
      integer(c_size_t), value :: first, count
      type(c_ptr), intent(inout) :: elements
      integer(c_int32_t) :: c_reducer_local
    end function

    function c_reducer_local_numbered(reducer, number, first, count, elements) &
      bind(c, name='coset_reducer_local_numbered')
      import
      type(c_ptr), value :: reducer
      integer(c_int32_t), value :: number
      integer(c_size_t), value :: first, count
      type(c_ptr), intent(inout) :: elements
      integer(c_int32_t) :: c_reducer_local_numbered
    end function

    function c_reducer_combine(reducer, into, with) bind(c, name='coset_reducer_combine')
      import
      type(c_ptr), value :: reducer, into, with
      integer(c_int32_t) :: c_reducer_combine
    end function

    function c_reducer_combine_part(reducer, into, part, parts) bind(c, name='coset_reducer_combine_part')
      import
      type(c_ptr), value :: reducer, into
      integer(c_int32_t), value :: part, parts
      integer(c_int32_t) :: c_reducer_combine_part
    end function

    function c_reducer_combine_ranks(reducer, into, me, how) bind(c, name='coset_reducer_combine_ranks')
      import
      type(c_ptr), value :: reducer, into, me
      integer(c_int32_t), value :: how
      integer(c_int32_t) :: c_reducer_combine_ranks
    end function

    function c_reducer_reset(reducer) bind(c, name='coset_reducer_reset')
      import
      type(c_ptr), value :: reducer
      integer(c_int32_t) :: c_reducer_reset
    end function

    function c_reducer_free(reducer) bind(c, name='coset_reducer_free')
      import
      type(c_ptr), value :: reducer
      integer(c_int32_t) :: c_reducer_free
    end function

    pure function c_status_name(status) bind(c, name='coset_status_name')
      import
      integer(c_int32_t), value :: status
      type(c_ptr) :: c_status_name
    end function

    pure function c_error_message() bind(c, name='coset_error_message')
      import
      type(c_ptr) :: c_error_message
    end function

    pure function c_strlen(text) bind(c, name='strlen')
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: c_strlen
    end function
  end interface
end module
