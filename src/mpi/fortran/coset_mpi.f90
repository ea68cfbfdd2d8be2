! SPDX-License-Identifier: Apache-2.0
! Teams over processes for Fortran: one collective over all threads of all processes. What coset_mpi.h says of a function
! holds for the subroutine of its name. Members take every subroutine of module coset, and leave by coset_team_leave.
!
! Communicators are integers, as those of `use mpi` and mpif.h; programs that `use mpi_f08` pass communicator%MPI_VAL.
module coset_mpi
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  use coset_base
  implicit none
  private

  public :: coset_mpi_team_create, coset_mpi_team_free, coset_mpi_team_run, coset_mpi_team_join, coset_mpi_team_reset
  public :: coset_mpi_team_size, coset_mpi_team_first, coset_mpi_team_threads
  public :: coset_mpi_team_processes, coset_mpi_team_hosts, coset_mpi_team_describe

  type, public :: coset_mpi_team
    type(c_ptr) :: handle = c_null_ptr
  end type

  !> coset_mpi_options
  type, bind(c) :: c_mpi_options
    integer(c_size_t) :: bytes
    integer(c_int32_t) :: leaders = 0, library_leaders = 0
    integer(c_int64_t) :: nanoseconds = 0
    integer(c_size_t) :: staging_bytes = 1024 * 1024
    type(c_ptr) :: tree = c_null_ptr
  end type

  interface
    !> coset_mpi_team_create() of a communicator as Fortran numbers it.
    function c_mpi_team_create(communicator, threads, options, made) bind(c, name='coset_fortran_mpi_team_create')
      import
      integer(c_int), value :: communicator
      type(c_ptr), value :: threads
      type(c_mpi_options), intent(in) :: options
      type(c_ptr), intent(inout) :: made
      integer(c_int32_t) :: c_mpi_team_create
    end function

    function c_mpi_team_free(team) bind(c, name='coset_mpi_team_free')
      import
      type(c_ptr), value :: team
      integer(c_int32_t) :: c_mpi_team_free
    end function

    function c_mpi_team_run(team, body, context) bind(c, name='coset_mpi_team_run')
      import
      type(c_ptr), value :: team, context
      type(c_funptr), value :: body
      integer(c_int32_t) :: c_mpi_team_run
    end function

    function c_mpi_team_join(team, thread, me) bind(c, name='coset_mpi_team_join')
      import
      type(c_ptr), value :: team
      integer(c_int32_t), value :: thread
      type(c_ptr), intent(inout) :: me
      integer(c_int32_t) :: c_mpi_team_join
    end function

    function c_mpi_team_reset(team) bind(c, name='coset_mpi_team_reset')
      import
      type(c_ptr), value :: team
      integer(c_int32_t) :: c_mpi_team_reset
    end function

    pure function c_mpi_team_size(team) bind(c, name='coset_mpi_team_size')
      import
      type(c_ptr), value :: team
      integer(c_int32_t) :: c_mpi_team_size
    end function

    pure function c_mpi_team_first(team) bind(c, name='coset_mpi_team_first')
      import
      type(c_ptr), value :: team
      integer(c_int32_t) :: c_mpi_team_first
    end function

    pure function c_mpi_team_threads(team) bind(c, name='coset_mpi_team_threads')
      import
      type(c_ptr), value :: team
      integer(c_int32_t) :: c_mpi_team_threads
    end function

    pure function c_mpi_team_processes(team) bind(c, name='coset_mpi_team_processes')
      import
      type(c_ptr), value :: team
      integer(c_int32_t) :: c_mpi_team_processes
    end function

    pure function c_mpi_team_hosts(team) bind(c, name='coset_mpi_team_hosts')
      import
      type(c_ptr), value :: team
      integer(c_int32_t) :: c_mpi_team_hosts
    end function

    !> The length of a description. Not what describes: a pure function writes nothing, as far as compilers know.
    pure function c_mpi_team_letters(team) bind(c, name='coset_fortran_mpi_team_letters')
      import
      type(c_ptr), value :: team
      integer(c_size_t) :: c_mpi_team_letters
    end function

    function c_mpi_team_describe(team, text, room) bind(c, name='coset_mpi_team_describe')
      import
      type(c_ptr), value :: team, text
      integer(c_size_t), value :: room
      integer(c_size_t) :: c_mpi_team_describe
    end function
  end interface

contains

  !> Collective over the communicator. `threads` is a team of threads of its own, which coset_mpi_team_run, or an adopted
  !> one, whose threads coset_mpi_team_join. The options are the same on every process; without `seconds` ranks wait for
  !> other processes for ever.
  subroutine coset_mpi_team_create(team, communicator, threads, leaders, library_leaders, seconds, staging_bytes, tree, &
                                   status)
    type(coset_mpi_team), intent(inout) :: team
    integer, intent(in) :: communicator
    type(coset_team), intent(in) :: threads
    integer, intent(in), optional :: leaders, library_leaders, staging_bytes
    real(real64), intent(in), optional :: seconds
    character(*), intent(in), optional :: tree
    integer, intent(out), optional :: status
    character(kind=c_char, len=:), allocatable, target :: tree_for_c
    type(c_mpi_options) :: options
    options%bytes = c_sizeof(options)
    if (present(leaders)) options%leaders = int(leaders, c_int32_t)
    if (present(library_leaders)) options%library_leaders = int(library_leaders, c_int32_t)
    if (present(seconds)) options%nanoseconds = nint(seconds * 1e9_real64, c_int64_t)
    if (present(staging_bytes)) options%staging_bytes = int(staging_bytes, c_size_t)
    if (present(tree)) then
      tree_for_c = tree//c_null_char
      options%tree = c_loc(tree_for_c)
    end if
    call arrived(c_mpi_team_create(int(communicator, c_int), threads%handle, options, team%handle), status)
  end subroutine

  !> Collective: waits until the other processes free theirs.
  subroutine coset_mpi_team_free(team, status)
    type(coset_mpi_team), intent(inout) :: team
    integer, intent(out), optional :: status
    call arrived(c_mpi_team_free(team%handle), status)
    team%handle = c_null_ptr
  end subroutine

  !> Collective: runs `body` on every thread of every process, see coset_team_run.
  subroutine coset_mpi_team_run(team, body, context, status)
    type(coset_mpi_team), intent(in) :: team
    procedure(coset_body) :: body
    class(*), intent(inout), target :: context
    integer, intent(out), optional :: status
    type(errand), target :: sent
    sent%body => body
    sent%context => context
    call arrived(c_mpi_team_run(team%handle, c_funloc(run_errand), c_loc(sent)), status)
  end subroutine

  !> Of adopted threads: the calling thread is this thread of its process until it calls coset_team_leave. Waits for
  !> nobody.
  subroutine coset_mpi_team_join(team, thread, me, status)
    type(coset_mpi_team), intent(in) :: team
    integer, intent(in) :: thread
    type(coset_member), intent(inout) :: me
    integer, intent(out), optional :: status
    call arrived(c_mpi_team_join(team%handle, int(thread, c_int32_t), me%handle), status)
  end subroutine

  !> Of adopted threads, collective over the processes, by one thread of each: after a failure the team works again.
  subroutine coset_mpi_team_reset(team, status)
    type(coset_mpi_team), intent(in) :: team
    integer, intent(out), optional :: status
    call arrived(c_mpi_team_reset(team%handle), status)
  end subroutine

  !> Threads of all processes.
  integer function coset_mpi_team_size(team)
    type(coset_mpi_team), intent(in) :: team
    coset_mpi_team_size = c_mpi_team_size(team%handle)
  end function

  !> This process's first rank.
  integer function coset_mpi_team_first(team)
    type(coset_mpi_team), intent(in) :: team
    coset_mpi_team_first = c_mpi_team_first(team%handle)
  end function

  !> This process's ranks.
  integer function coset_mpi_team_threads(team)
    type(coset_mpi_team), intent(in) :: team
    coset_mpi_team_threads = c_mpi_team_threads(team%handle)
  end function

  integer function coset_mpi_team_processes(team)
    type(coset_mpi_team), intent(in) :: team
    coset_mpi_team_processes = c_mpi_team_processes(team%handle)
  end function

  integer function coset_mpi_team_hosts(team)
    type(coset_mpi_team), intent(in) :: team
    coset_mpi_team_hosts = c_mpi_team_hosts(team%handle)
  end function

  !> What the team discovered and what it uses.
  function coset_mpi_team_describe(team) result(text)
    type(coset_mpi_team), intent(in) :: team
    character(c_mpi_team_letters(team%handle)) :: text
    character(kind=c_char), target :: letters(len(text) + 1)
    integer(c_size_t) :: i
    letters = ' '
    i = c_mpi_team_describe(team%handle, c_loc(letters), size(letters, kind=c_size_t))
    do i = 1, len(text)
      text(i:i) = letters(i)
    end do
  end function

end module
