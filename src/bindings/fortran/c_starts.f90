! SPDX-License-Identifier: Apache-2.0
! The functions of coset.h and coset_pieces.h that start an operation, as C has them.
module coset_c_starts
  use, intrinsic :: iso_c_binding
  use coset_c, only: coset_request
  implicit none
  public

  abstract interface
    function c_start_of_whole(me, in, out, count, type, operation, started) bind(c)
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type
      integer(c_intptr_t), value :: operation
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_of_whole
    end function
  end interface

  interface
    function c_start_allreduce(me, in, out, count, type, operation, started) bind(c, name='coset_start_allreduce')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type
      integer(c_intptr_t), value :: operation
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_allreduce
    end function

    function c_start_reduce_shared(me, in, out, count, type, operation, started) &
      bind(c, name='coset_start_reduce_shared')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type
      integer(c_intptr_t), value :: operation
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_reduce_shared
    end function

    function c_start_scan(me, in, out, count, type, operation, started) bind(c, name='coset_start_scan')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type
      integer(c_intptr_t), value :: operation
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_scan
    end function

    function c_start_exclusive_scan(me, in, out, count, type, operation, started) &
      bind(c, name='coset_start_exclusive_scan')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type
      integer(c_intptr_t), value :: operation
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_exclusive_scan
    end function

    function c_start_reduce(me, in, out, count, type, operation, root, started) bind(c, name='coset_start_reduce')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type, root
      integer(c_intptr_t), value :: operation
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_reduce
    end function

    function c_start_reduce_scatter(me, in, out, piece, type, operation, started) &
      bind(c, name='coset_start_reduce_scatter')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: piece
      integer(c_int32_t), value :: type
      integer(c_intptr_t), value :: operation
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_reduce_scatter
    end function

    function c_start_reduce_scatter_counts(me, in, out, counts, type, operation, started) &
      bind(c, name='coset_start_reduce_scatter_counts')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), intent(in) :: counts(*)
      integer(c_int32_t), value :: type
      integer(c_intptr_t), value :: operation
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_reduce_scatter_counts
    end function

    function c_start_allgather(me, in, out, piece, type, started) bind(c, name='coset_start_allgather')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: piece
      integer(c_int32_t), value :: type
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_allgather
    end function

    function c_start_allgather_counts(me, in, out, counts, type, started) bind(c, name='coset_start_allgather_counts')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), intent(in) :: counts(*)
      integer(c_int32_t), value :: type
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_allgather_counts
    end function

    function c_start_gather(me, in, out, piece, type, root, started) bind(c, name='coset_start_gather')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: piece
      integer(c_int32_t), value :: type, root
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_gather
    end function

    function c_start_gather_counts(me, in, out, counts, type, root, started) bind(c, name='coset_start_gather_counts')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), intent(in) :: counts(*)
      integer(c_int32_t), value :: type, root
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_gather_counts
    end function

    function c_start_scatter(me, in, out, piece, type, root, started) bind(c, name='coset_start_scatter')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: piece
      integer(c_int32_t), value :: type, root
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_scatter
    end function

    function c_start_scatter_counts(me, in, out, counts, type, root, started) bind(c, name='coset_start_scatter_counts')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), intent(in) :: counts(*)
      integer(c_int32_t), value :: type, root
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_scatter_counts
    end function

    function c_start_all_to_all(me, in, out, piece, type, started) bind(c, name='coset_start_all_to_all')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: piece
      integer(c_int32_t), value :: type
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_all_to_all
    end function

    function c_start_broadcast(me, data, count, type, root, started) bind(c, name='coset_start_broadcast')
      import
      type(c_ptr), value :: me, data
      integer(c_size_t), value :: count
      integer(c_int32_t), value :: type, root
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_broadcast
    end function

    function c_start_barrier(me, started) bind(c, name='coset_start_barrier')
      import
      type(c_ptr), value :: me
      type(coset_request), intent(inout) :: started
      integer(c_int32_t) :: c_start_barrier
    end function
  end interface
end module
