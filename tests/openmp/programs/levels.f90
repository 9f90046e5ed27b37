! SPDX-License-Identifier: Apache-2.0
! levels [levels|nested]: twice a region with others inside, and how many threads these have. In between
! it allows one level, by a call.
program levels
  use omp_lib
  implicit none
  integer :: i, inside
  character(8) :: word
  call get_command_argument(1, word)
  do i = 1, 2
    inside = 0
    !$omp parallel reduction(max: inside)
    !$omp parallel
    !$omp single
    inside = omp_get_num_threads()
    !$omp end single
    !$omp end parallel
    !$omp end parallel
    print '(i0)', inside
    if (word == 'levels') call omp_set_max_active_levels(1)
    if (word == 'nested') call omp_set_nested(.false.)
  end do
end program
