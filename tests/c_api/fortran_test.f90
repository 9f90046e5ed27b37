! SPDX-License-Identifier: Apache-2.0
! Every call of module nigh.
module tasks
  use, intrinsic :: iso_c_binding
  use nigh
  implicit none
  type(task_queue) :: queue
  integer :: failures = 0

  type, bind(c) :: pair
    real(c_double) :: a, b
    integer(c_int) :: more(20)  ! more than fits a slot
  end type
contains
  subroutine expect(what, is_so)
    character(*), intent(in) :: what
    logical, intent(in) :: is_so
    if (is_so) return
    failures = failures + 1
    print "(4a)", "not so: ", what, "; ", nigh_error()
  end subroutine

  recursive subroutine twice_int(in, out) bind(c)
    type(c_ptr), value :: in, out
    integer(c_int), pointer :: n, m
    call c_f_pointer(in, n)
    call c_f_pointer(out, m)
    m = 2 * n
  end subroutine

  recursive subroutine twice_long(in, out) bind(c)
    type(c_ptr), value :: in, out
    integer(c_int64_t), pointer :: n, m
    call c_f_pointer(in, n)
    call c_f_pointer(out, m)
    m = 2 * n
  end subroutine

  recursive subroutine twice_float(in, out) bind(c)
    type(c_ptr), value :: in, out
    real(c_float), pointer :: x, y
    call c_f_pointer(in, x)
    call c_f_pointer(out, y)
    y = 2 * x
  end subroutine

  recursive subroutine twice_double(in, out) bind(c)
    type(c_ptr), value :: in, out
    real(c_double), pointer :: x, y
    call c_f_pointer(in, x)
    call c_f_pointer(out, y)
    y = 2 * x
  end subroutine

  recursive subroutine sum_up(in, out) bind(c)
    type(c_ptr), value :: in, out
    type(pair), pointer :: p
    real(c_double), pointer :: s
    call c_f_pointer(in, p)
    call c_f_pointer(out, s)
    s = p%a + p%b + sum(p%more)
  end subroutine

  recursive subroutine count_up(first, last, context) bind(c)
    integer(c_int64_t), value :: first, last
    type(c_ptr), value :: context
    integer(c_int), pointer :: numbers(:)
    call c_f_pointer(context, numbers, [1000])
    numbers(first:last) = numbers(first:last) + 1
  end subroutine

  recursive subroutine where_am_i(in, out) bind(c)
    type(c_ptr), value :: in, out
    integer(c_int), pointer :: index
    call c_f_pointer(out, index)
    index = merge(-2_c_int, nigh_worker_index(), c_associated(in))
  end subroutine
end module

program fortran_test
  use tasks
  implicit none
  integer, parameter :: n = 1000
  character(kind=c_char, len=12), target :: machine = "core:2 pu:1" // c_null_char
  type(nigh_options) :: options
  type(nigh_counters) :: counters
  type(pair) :: p
  integer(c_int), target :: ints(n), worker
  integer(c_int64_t), target :: long
  integer(c_int64_t), parameter :: most = huge(long)
  integer(c_int64_t) :: least
  real(c_float), target :: float
  real(c_double), target :: double, total
  integer(c_int) :: status, i

  options%synthetic = c_loc(machine)
  options%workers = -1
  call queue%allocate(options, status)
  call expect("a negative number of workers is refused", status == nigh_bad_argument)
  call expect("the message names the option", index(nigh_error(), "workers") > 0)
  call queue%wait(status)
  call expect("no queue, no wait", status == nigh_bad_argument)
  options%workers = 1
  call queue%allocate(options)
  call queue%put(twice_int, 1, ints(1))
  options%workers = 2
  call queue%allocate(options, status)
  call expect("a queue with tasks is not replaced", status == nigh_busy)
  call expect("it keeps its worker", queue%workers() == 1)
  call queue%wait()
  call queue%allocate(options)
  call expect("two workers", queue%workers() == 2)

  do i = 1, n
    call queue%put(twice_int, i, ints(i))
  end do
  call queue%put(twice_long, 2_c_int64_t**40, long)
  call queue%put(twice_float, 1.5_c_float, float)
  call queue%put(twice_double, 2.5_c_double, double, status)
  call expect("put says so", status == nigh_ok)
  p = pair(1, 2, [(i, i = 1, 20)])
  call queue%put_bytes(sum_up, p, c_sizeof(p), total)
  p = pair(0, 0, 0)
  call queue%put_nothing(where_am_i, worker)
  do while (queue%execute())
  end do
  do while (queue%steal() > 0)
  end do
  call queue%wait()
  call expect("integers", all(ints == [(2 * i, i = 1, n)]))
  call expect("a long integer", long == 2_c_int64_t**41)
  call expect("reals", abs(float - 3) + abs(double - 5) < 1e-6)
  call expect("a structure", abs(total - 213) < 1e-6)
  call expect("a task without input", worker >= -1)
  call expect("empty", queue%is_empty())

  call queue%run_nothing(where_am_i, worker)
  call expect("on a worker", worker == 0 .or. worker == 1)
  call expect("not on a worker", nigh_worker_index() == -1)
  call queue%run(twice_double, 3.5_c_double, double)
  call expect("run", abs(double - 7) < 1e-6)
  counters = queue%counters()
  call expect("counters", counters%put == n + 7 .and. counters%finished == counters%put)
  call expect("one allocated input", counters%allocated == 1)
  ints = 0
  call nigh_parallel_for(1_c_int64_t, int(n, c_int64_t), count_up, c_loc(ints), "guided,3")
  call nigh_parallel_for(11_c_int64_t, int(n, c_int64_t), count_up, c_loc(ints))
  call nigh_parallel_for(11_c_int64_t, 10_c_int64_t, count_up, c_loc(ints))
  call expect("a loop", all(ints(:10) == 1) .and. all(ints(11:) == 2))
  call nigh_parallel_for(1_c_int64_t, 2_c_int64_t, count_up, c_loc(ints), "fast", status)
  call expect("no such schedule", status == nigh_bad_argument)
  call expect("the message names the schedule", index(nigh_error(), "fast") > 0)
  ints = 0
  least = -most
  least = least - 1
  call nigh_parallel_for(1_c_int64_t, int(n, c_int64_t), count_up, c_loc(ints), "static  ", status)
  call expect("a schedule with blanks behind it", status == nigh_ok .and. all(ints == 1))
  call nigh_parallel_for(least, most, count_up, c_loc(ints), status=status)
  call expect("too many iterations", status == nigh_bad_argument)
  call nigh_parallel_for(0_c_int64_t, most, count_up, c_loc(ints), status=status)
  call expect("one too many", status == nigh_bad_argument)
  call nigh_parallel_for(most, least, count_up, c_loc(ints), status=status)
  call expect("all the way back", status == nigh_ok .and. all(ints == 1))
  call expect("a version", len(nigh_version()) >= 5)
  call queue%free()
  if (failures > 0) error stop
  print "(a)", "all right"
end program
