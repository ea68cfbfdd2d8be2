! SPDX-License-Identifier: Apache-2.0
! Every intercepted collective as Fortran programs call it, by one of MPI's three interfaces.
#include "handle.inc"

program calls
  use world
  use cases
  use, intrinsic :: iso_fortran_env, only: real64
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char
  implicit none
  integer, parameter :: n = 700
  integer :: level, code
  interface
    integer(c_int) function setenv(name, value, replaces) bind(c)
      import
      character(kind=c_char), intent(in) :: name(*), value(*)
      integer(c_int), value :: replaces
    end function
  end interface
  code = setenv('COSET_INTERPOSE_REQUIRE' // c_null_char, '1' // c_null_char, 1)  ! what is left to MPI is an error
  call mpi_init_thread(MPI_THREAD_FUNNELED, level, code)
  call mpi_comm_rank(MPI_COMM_WORLD, me, code)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, code)
  call mpi_barrier(MPI_COMM_WORLD, code)  ! the first blocking collective makes the team
  call mpi_comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, code)
  call every_call
  call mpi_comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, code)
  call types
  call in_place
  call nonblocking
  call bottom
  call sections
  call operations
  call mpi_allreduce(MPI_IN_PLACE, faults, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  call mpi_finalize(code)
  if (faults > 0) error stop 1
contains

  integer function sum_of_ranks()
    sum_of_ranks = ranks * (ranks - 1) / 2
  end function

  !> Arrays of the types that programs have.
  subroutine types
    real :: r(n), r_sum(n)
    double precision :: d(n), d_least(n)
    double complex :: z(n), z_sum(n)
    logical :: b(n), all_true(n)
    integer :: pairs(2, n), nearest(2, n)
    character(8) :: words(3)
    r = me
    d = me
    z = cmplx(me, 1, real64)
    b = .true.
    b(2) = me /= 0
    call mpi_allreduce(r, r_sum, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, code)
    call expect(all(nint(r_sum) == sum_of_ranks()), 'real')
    call mpi_allreduce(d, d_least, n, MPI_DOUBLE_PRECISION, MPI_MIN, MPI_COMM_WORLD, code)
    call expect(all(nint(d_least) == 0), 'double precision')
    call mpi_allreduce(z, z_sum, n, MPI_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD, code)
    call expect(all(nint(real(z_sum)) == sum_of_ranks()) .and. all(nint(aimag(z_sum)) == ranks), 'double complex')
    call mpi_allreduce(b, all_true, n, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, code)
    call expect(all_true(1) .and. .not. all_true(2), 'logical')
    pairs(1, :) = 5
    pairs(2, :) = me
    call mpi_allreduce(pairs, nearest, n, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD, code)
    call expect(all(nearest(1, :) == 5) .and. all(nearest(2, :) == 0), 'pairs')
    words = 'nothing'
    if (me == ranks - 1) words = 'a word'
    call mpi_bcast(words, 24, MPI_CHARACTER, ranks - 1, MPI_COMM_WORLD, code)
    call expect(words(3) == 'a word', 'characters')
  end subroutine

  subroutine in_place
    integer :: x(n), whole(n * ranks), r
    x = me
    call mpi_allreduce(MPI_IN_PLACE, x, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    call expect(all(x == sum_of_ranks()), 'allreduce in place')
    x = me
    if (me == 0) then
      call mpi_reduce(MPI_IN_PLACE, x, 10, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, code)
      call expect(all(x(:10) == sum_of_ranks()), 'reduce in place')
    else
      call mpi_reduce(x, x, 10, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, code)
    end if
    whole = -1
    whole(me * n + 1:(me + 1) * n) = me
    call mpi_allgather(MPI_IN_PLACE, 0, MPI_INTEGER, whole, n, MPI_INTEGER, MPI_COMM_WORLD, code)
    do r = 1, ranks
      call expect(whole(r * n) == r - 1, 'allgather in place')
    end do
    x = me
    call mpi_scan(MPI_IN_PLACE, x, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    call expect(all(x == me * (me + 1) / 2), 'scan in place')
  end subroutine

  subroutine nonblocking
    integer, asynchronous :: x(n), y(n), z(n)
    integer :: which, turn
    HANDLE(MPI_Request) :: requests(3)
    x = me
    z = merge(7, 0, me == 0)
    call mpi_iallreduce(x, y, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1), code)
    call mpi_ibcast(z, n, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(2), code)
    call mpi_ibarrier(MPI_COMM_WORLD, requests(3), code)
    call mpi_waitany(3, requests, which, MPI_STATUS_IGNORE, code)
    call mpi_waitall(3, requests, MPI_STATUSES_IGNORE, code)
    call expect(all(y == sum_of_ranks()), 'iallreduce')
    call expect(all(z == 7), 'ibcast')
    call mpi_iallreduce(MPI_IN_PLACE, x, n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, requests(1), code)
    call mpi_wait(requests(1), MPI_STATUS_IGNORE, code)
    call expect(all(x == ranks - 1), 'iallreduce in place')
    call mpi_allreduce_init(x, y, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), code)
    do turn = 1, 3
      x = me + turn
      call mpi_start(requests(1), code)
      call mpi_wait(requests(1), MPI_STATUS_IGNORE, code)
      call expect(all(y == sum_of_ranks() + ranks * turn), 'persistent')
    end do
    call mpi_request_free(requests(1), code)
  end subroutine

  !> Where MPI_BOTTOM stands for any array: elements at their addresses.
  subroutine bottom
    integer, volatile, target :: x(4)
    integer, asynchronous :: got(2, ranks)
    integer(MPI_ADDRESS_KIND) :: at(2)
    HANDLE(MPI_Datatype) :: here
    HANDLE(MPI_Request) :: request
    integer :: r
    call mpi_get_address(x(1), at(1), code)
    call mpi_get_address(x(3), at(2), code)
    call mpi_type_create_hindexed(2, [1, 1], at, MPI_INTEGER, here, code)
    call mpi_type_commit(here, code)
    x = me
    call mpi_bcast(MPI_BOTTOM, 1, here, ranks - 1, MPI_COMM_WORLD, code)
    call expect(x(1) == ranks - 1 .and. x(2) == me .and. x(3) == ranks - 1, 'MPI_BOTTOM')
    x = me
    call mpi_ibcast(MPI_BOTTOM, 1, here, 0, MPI_COMM_WORLD, request, code)
    call mpi_wait(request, MPI_STATUS_IGNORE, code)
    call expect(x(1) == 0 .and. x(2) == me .and. x(3) == 0, 'MPI_BOTTOM, nonblocking')
    x = me
    call mpi_allgather(MPI_BOTTOM, 1, here, got, 2, MPI_INTEGER, MPI_COMM_WORLD, code)
    call expect(all([(all(got(:, r) == r - 1), r = 1, ranks)]), 'MPI_BOTTOM, gathered')
    call mpi_type_free(here, code)
  end subroutine

  !> Of which MPICH makes datatypes in one interface, and elsewhere the compiler makes arrays.
  subroutine sections
    integer, asynchronous :: x(2 * n)
    HANDLE(MPI_Request) :: request
    x = me
    call mpi_bcast(x(::2), n, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, code)
    call expect(all(x(::2) == ranks - 1) .and. all(x(2::2) == me), 'a section')
#if defined(COSET_SUBARRAYS)
    x = me
    call mpi_ibcast(x(::2), n, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, request, code)
    call mpi_wait(request, MPI_STATUS_IGNORE, code)
    call expect(all(x(::2) == ranks - 1) .and. all(x(2::2) == me), 'a section, nonblocking')
#endif
  end subroutine

  subroutine operations
    HANDLE(MPI_Op) :: by
    integer :: x(n), y(n)
    call mpi_op_create(keep_first, .false., by, code)
    x = me + 1
    call mpi_allreduce(x, y, n, MPI_INTEGER, by, MPI_COMM_WORLD, code)
    call expect(all(y == 1), 'an operation that does not commute')
    call mpi_scan(x, y, n, MPI_INTEGER, by, MPI_COMM_WORLD, code)
    call expect(all(y == 1), 'a scan that does not commute')
    call mpi_op_free(by, code)
  end subroutine

  subroutine keep_first(in, inout, length, type)
#if defined(COSET_F08)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: type
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [length])
    call c_f_pointer(inout, b, [length])
    b = a
#else
    integer :: length, type
    integer :: in(length), inout(length)
    inout = in
#endif
  end subroutine
end program
