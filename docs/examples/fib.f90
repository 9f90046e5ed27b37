! SPDX-License-Identifier: Apache-2.0
! Fibonacci numbers by a tree of tasks, as in fib.c.
!
!   gfortran fib.f90 $(pkg-config --cflags --libs nigh-fortran) && ./a.out 30
module fib_tasks
  use, intrinsic :: iso_c_binding
  use nigh
  implicit none
  type(task_queue) :: queue
contains
  recursive subroutine fib(in, out) bind(c)
    type(c_ptr), value :: in, out
    integer(c_int), pointer :: n
    integer(c_int64_t), pointer :: result
    integer(c_int64_t), target :: x, y
    call c_f_pointer(in, n)
    call c_f_pointer(out, result)
    if (n < 2) then
      result = n
      return
    end if
    call queue%put(fib, n - 1, x)
    call queue%put(fib, n - 2, y)
    call queue%wait()
    result = x + y
  end subroutine
end module

program main
  use fib_tasks
  implicit none
  integer(c_int) :: n = 30
  integer(c_int64_t), target :: result
  type(nigh_counters) :: counters
  character(20) :: argument
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) n
  end if
  call queue%allocate()
  call queue%run(fib, n, result)
  counters = queue%counters()
  print "(a, i0, a, i0, a, i0, a, i0, a)", "fib(", n, ") = ", result, " in ", counters%put, &
    " tasks, ", counters%serialized, " of them inline"
  call queue%free()
end program
