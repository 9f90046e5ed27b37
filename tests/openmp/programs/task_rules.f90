! SPDX-License-Identifier: Apache-2.0
! An event and a nestable lock, as Fortran calls them: task_rules CASE.
program task_rules
  use omp_lib
  implicit none
  character(16) :: which
  call get_command_argument(1, which)
  if (which == 'event') call fulfills
  if (which == 'lock') call locks
contains
  subroutine fulfills
    integer(omp_event_handle_kind) :: event
    integer :: x
    x = 0
    !$omp parallel num_threads(2) shared(x)
    !$omp single
    !$omp task detach(event) shared(x)
    x = x + 1
    call omp_fulfill_event(event)
    !$omp end task
    !$omp taskwait
    x = x + 10
    !$omp end single
    !$omp end parallel
    print '(a,i0)', 'event ', x
  end subroutine
  ! It belongs to the task that has set it, and not to that task's child.
  subroutine locks
    integer(omp_nest_lock_kind) :: lock
    integer :: own, childs
    call omp_init_nest_lock(lock)
    !$omp parallel num_threads(2) shared(own, childs, lock)
    !$omp single
    !$omp task shared(own, childs, lock)
    call omp_set_nest_lock(lock)
    own = omp_test_nest_lock(lock)
    !$omp task if(.false.) shared(childs, lock)
    childs = omp_test_nest_lock(lock)
    !$omp end task
    call omp_unset_nest_lock(lock)
    call omp_unset_nest_lock(lock)
    !$omp end task
    !$omp end single
    !$omp end parallel
    print '(a,i0,a,i0)', 'lock ', own, ' ', childs
  end subroutine
end program
