! SPDX-License-Identifier: Apache-2.0
! A Fortran program of somebody else: every rank gets the sum over all ranks, or the exit status says that it did not.
module bodies
  use coset
  implicit none
contains
  recursive subroutine sum_up(me, context, status)
    type(coset_member), intent(in) :: me
    class(*), intent(inout) :: context
    integer, intent(out) :: status
    integer :: total
    total = coset_member_rank(me) + 1
    call coset_allreduce(me, total, status=status)
    if (status /= coset_success) return
    if (total /= coset_member_size(me) * (coset_member_size(me) + 1) / 2) status = coset_unknown_error
  end subroutine
end module

program outside
  use bodies
  implicit none
  type(coset_team) :: team
  integer :: nothing = 0
  call coset_team_create(team)
  call coset_team_run(team, sum_up, nothing)
  call coset_team_free(team)
end program
