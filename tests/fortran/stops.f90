! SPDX-License-Identifier: Apache-2.0
! An error without a status argument stops the program, with the message.
program stops
  use coset
  implicit none
  type(coset_team) :: team
  integer :: nothing
  nothing = 0
  call coset_team_create(team, 1)
  call coset_team_run(team, mistake, nothing)
contains
  subroutine mistake(me, context, status)
    type(coset_member), intent(in) :: me
    class(*), intent(inout) :: context
    integer, intent(out) :: status
    real :: three(3), four(4)
    status = 0
    three = 0
    call coset_allreduce(me, three, four)
    print *, 'went on'
  end subroutine
end program
