! SPDX-License-Identifier: Apache-2.0
! Every intercepted collective with every predefined datatype of Fortran's and every operation that MPI defines for it.
#include "handle.inc"

module cases
  use forms
  use elements
  use, intrinsic :: iso_fortran_env, only: int8
  implicit none
  private
  public :: every_call

  integer(int8), parameter :: untouched = -91
  integer, parameter :: guard = 64
contains
  !> All forms of each where there is time; otherwise each is one of them.
  subroutine every_call
    type(element), allocatable :: all(:)
    type(operation), allocatable :: by(:)
    character(8) :: effort
    integer :: i, j, what, seed
    call get_environment_variable('COSET_TEST_EFFORT', effort)
    seed = 0
    all = all_elements()
    do i = 1, size(all)
      by = operations_for(all(i))
      do what = allreduce, combining
        do j = 1, size(by)
          call in_forms(what, all(i), by(j))
        end do
      end do
      do what = combining + 1, barrier
        call in_forms(what, all(i), operation('', MPI_OP_NULL, 0))
      end do
    end do
  contains
    subroutine in_forms(what, of, by)
      integer, intent(in) :: what
      type(element), intent(in) :: of
      type(operation), intent(in) :: by
      integer :: how, places
      do places = 1, merge(1, 2, what == broadcast .or. what == barrier)
        seed = seed + 1
        do how = 1, all_forms
          if (effort == 'long' .or. how == 1 + draw(seed, all_forms)) call try(what, how, of, by, places == 2, seed)
        end do
      end do
    end subroutine
  end subroutine

  !> A call of random lengths; the same on all ranks for the same seed, but for the data.
  subroutine try(what, how, of, by, in_place, seed)
    integer, intent(in) :: what, how, seed
    type(element), intent(in) :: of
    type(operation), intent(in) :: by
    logical, intent(in) :: in_place
    integer, parameter :: lengths(8) = [0, 1, 2, 5, 17, 64, 150, 300]
    integer :: counts(0:ranks - 1), places(0:ranks - 1), n, root, total, gap, r, code
    logical :: gathers, scatters, spreads, swaps, is_in_place
    integer(int8), allocatable :: in(:), out(:), right(:)
    character(160) :: name
    external :: carry_out
    gathers = what == allgather .or. what == allgatherv .or. what == gather .or. what == gatherv
    scatters = what == reduce_scatter .or. what == reduce_scatter_block
    spreads = what == scatter .or. what == scatterv
    swaps = what == alltoall
    root = draw(seed + 1, ranks)
    is_in_place = in_place .and. (me == root .or. .not. (spreads .or. any(what == [reduce, gather, gatherv])))
    counts = lengths(1 + draw(seed, size(lengths)))
    if (any(what == [reduce_scatter, allgatherv, gatherv, scatterv])) &
      counts = [(lengths(1 + draw(seed + r, size(lengths))), r = 0, ranks - 1)]
    gap = merge(1, 0, any(what == [allgatherv, gatherv, scatterv]))
    places = [(sum(counts(:r - 1)) + r * gap, r = 0, ranks - 1)]
    total = sum(counts) + ranks * gap
    n = counts(me)
    in = input(me)
    out = before()
    right = after()
    if (is_in_place .and. spreads) then
      call carry_out(what, how, in, MPI_IN_PLACE, n, counts, places, of%type, by%handle, root, code)
    else if (is_in_place) then
      call carry_out(what, how, MPI_IN_PLACE, out(guard + 1), n, counts, places, of%type, by%handle, root, code)
    else
      call carry_out(what, how, in, out(guard + 1), n, counts, places, of%type, by%handle, root, code)
    end if
    if (code == MPI_SUCCESS .and. all(out == right) .and. all(in == input(me))) return
    write (name, '(4(a,1x),a,3(a,i0))') trim(name_of_form(how)), trim(name_of_verb(what)), trim(of%name), &
      trim(by%name), merge('in place', '        ', in_place), ', seed ', seed, ', code ', code, ', length ', n
    call expect(.false., trim(name))
  contains
    !> Of a rank; others know what it is.
    function input(rank) result(bytes)
      integer, intent(in) :: rank
      integer(int8), allocatable :: bytes(:)
      integer :: length, first
      length = merge(total, merge(counts(rank), n, gathers), scatters .or. spreads .or. swaps) * of%bytes
      first = draw(seed + 100 * rank, size(of%values) / of%bytes - length / of%bytes + 1) * of%bytes
      bytes = of%values(first + 1:first + length)
    end function

    !> What is there before the call.
    function before() result(bytes)
      integer(int8), allocatable :: bytes(:)
      integer :: length
      length = merge(total, n, gathers .or. swaps .or. (scatters .and. in_place)) * of%bytes
      allocate (bytes(length + 2 * guard))
      bytes = untouched
      if (is_in_place .and. .not. spreads .or. what == broadcast .and. me == root) &
        call put(input(me), merge(places(me), 0, gathers), bytes)
    end function

    function after() result(bytes)
      integer(int8), allocatable :: bytes(:), sums(:), whole(:)
      integer :: rank
      bytes = before()
      select case (what)
      case (allreduce, scan, exclusive_scan, reduce)
        if (what == exclusive_scan .and. me == 0 .or. what == reduce .and. me /= root) return
        call put(folded(merge(me + 1, merge(me, ranks, what == exclusive_scan), what == scan)), 0, bytes)
      case (reduce_scatter, reduce_scatter_block)
        sums = folded(ranks)
        call put(sums(places(me) * of%bytes + 1:(places(me) + n) * of%bytes), 0, bytes)
      case (scatter, scatterv)
        if (is_in_place) return
        whole = input(root)
        call put(whole(places(me) * of%bytes + 1:(places(me) + n) * of%bytes), 0, bytes)
      case (alltoall)
        do rank = 0, ranks - 1
          whole = input(rank)
          call put(whole(me * n * of%bytes + 1:(me + 1) * n * of%bytes), rank * n, bytes)
        end do
      case (allgather, allgatherv, gather, gatherv)
        if (me /= root .and. (what == gather .or. what == gatherv)) return
        do rank = 0, ranks - 1
          call put(input(rank), places(rank), bytes)
        end do
      case (broadcast)
        call put(input(root), 0, bytes)
      end select
    end function

    !> The first ranks' inputs, combined in their order by this process alone.
    function folded(some) result(sums)
      integer, intent(in) :: some
      integer(int8), allocatable :: sums(:), next(:)
      integer :: rank, ignored
      sums = input(0)
      do rank = 1, some - 1
        next = input(rank)
        call mpi_reduce_local(sums, next, size(sums) / of%bytes, of%type, by%handle, ignored)
        call move_alloc(next, sums)
      end do
    end function

    subroutine put(bytes, place, into)
      integer(int8), intent(in) :: bytes(:)
      integer, intent(in) :: place
      integer(int8), intent(inout) :: into(:)
      integer :: first
      first = guard + place * of%bytes
      into(first + 1:first + size(bytes)) = bytes
    end subroutine
  end subroutine
end module
