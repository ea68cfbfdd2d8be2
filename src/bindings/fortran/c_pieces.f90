! SPDX-License-Identifier: Apache-2.0
! The functions of coset_pieces.h, as C has them.
module coset_c_pieces
  use, intrinsic :: iso_c_binding
  implicit none
  public

  interface
    function c_gather(me, in, out, piece, type, root) bind(c, name='coset_gather')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: piece
      integer(c_int32_t), value :: type, root
      integer(c_int32_t) :: c_gather
    end function

    function c_gather_counts(me, in, out, counts, type, root) bind(c, name='coset_gather_counts')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), intent(in) :: counts(*)
      integer(c_int32_t), value :: type, root
      integer(c_int32_t) :: c_gather_counts
    end function

    function c_scatter(me, in, out, piece, type, root) bind(c, name='coset_scatter')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: piece
      integer(c_int32_t), value :: type, root
      integer(c_int32_t) :: c_scatter
    end function

    function c_scatter_counts(me, in, out, counts, type, root) bind(c, name='coset_scatter_counts')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), intent(in) :: counts(*)
      integer(c_int32_t), value :: type, root
      integer(c_int32_t) :: c_scatter_counts
    end function

    function c_all_to_all(me, in, out, piece, type) bind(c, name='coset_all_to_all')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), value :: piece
      integer(c_int32_t), value :: type
      integer(c_int32_t) :: c_all_to_all
    end function

    function c_all_to_all_counts(me, in, out, send_counts, receive_counts, type) bind(c, name='coset_all_to_all_counts')
      import
      type(c_ptr), value :: me, in, out
      integer(c_size_t), intent(in) :: send_counts(*), receive_counts(*)
      integer(c_int32_t), value :: type
      integer(c_int32_t) :: c_all_to_all_counts
    end function
  end interface
end module
