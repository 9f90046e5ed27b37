! SPDX-License-Identifier: Apache-2.0
! Task queues for Fortran 2018: nigh.h as a module. What each call does is said there.
!
! A task is a module subroutine (no internal one) that gets two addresses:
!
!   recursive subroutine work(in, out) bind(c)
!     type(c_ptr), value :: in, out            ! c_f_pointer() makes them typed
!
! It is recursive, since several threads are in it at once: a compiler may keep the local arrays of
! other procedures in memory that all threads share.
!
! Outputs are written while the caller goes on, so they need the target attribute, and have to stay
! where they are until wait(). A failure ends the program with a message, unless the call has a
! status argument: then that is 0 or one of the negative numbers below, and nigh_error() says why.
module nigh
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private

  public :: task_queue, nigh_options, nigh_counters, nigh_task
  public :: nigh_error, nigh_version, nigh_worker_index
  public :: nigh_parallel_for, nigh_loop_piece

  integer(c_int), parameter, public :: nigh_ok = 0, nigh_bad_argument = -1, nigh_busy = -2, &
    nigh_forked = -3
  integer(c_int), parameter, public :: nigh_victims_hierarchical = 0, nigh_victims_ring = 1, &
    nigh_victims_random = 2
  integer(c_int), parameter, public :: nigh_chunks_hierarchical = 0, nigh_chunks_one = 1, &
    nigh_chunks_half = 2

  ! 0 stands for the default.
  type, bind(c) :: nigh_options
    integer(c_size_t) :: size = 0  ! set by allocate()
    integer(c_int) :: workers = 0
    integer(c_int) :: victims = nigh_victims_hierarchical
    integer(c_int) :: chunks = nigh_chunks_hierarchical
    integer(c_int) :: depth_cutoff = 0
    integer(c_int) :: queue_cutoff = 0
    integer(c_size_t) :: task_capacity = 0
    integer(c_size_t) :: stack_bytes = 0
    type(c_ptr) :: synthetic = c_null_ptr  ! address of a text that ends in c_null_char
  end type

  type, bind(c) :: nigh_counters
    integer(c_size_t) :: size = 0  ! set by counters()
    integer(c_int64_t) :: put = 0, finished = 0, serialized = 0, allocated = 0
    integer(c_int64_t) :: steals = 0, stolen = 0, failed_steals = 0, parked = 0
  end type

  type :: task_queue
    type(c_ptr), private :: handle = c_null_ptr
  contains
    procedure :: allocate => queue_allocate  ! ([options] [, status]); frees the queue it has, if any
    procedure :: free => queue_free          ! ([status])
    ! put(work, number, out [, status]); for other inputs, arrays by their first element,
    ! put_bytes(work, variable, c_sizeof(variable), out [, status]); for none,
    ! put_nothing(work, out [, status]).
    generic :: put => put_int32, put_int64, put_real32, put_real64
    procedure :: put_bytes, put_nothing
    ! The same, as the root of a tree of tasks on a worker; returns when all of it is done.
    generic :: run => run_int32, run_int64, run_real32, run_real64
    procedure :: run_bytes, run_nothing
    procedure :: wait => queue_wait          ! ([status])
    procedure :: execute => queue_execute    ! ([status]): .true. when it ran one
    procedure :: steal => queue_steal        ! ([status]): the number of tasks
    procedure :: is_empty => queue_is_empty  ! ([status])
    procedure :: workers => queue_workers    ! ([status])
    procedure :: counters => queue_counters  ! ([status])
    procedure, private :: put_int32, put_int64, put_real32, put_real64
    procedure, private :: run_int32, run_int64, run_real32, run_real64
  end type

  abstract interface
    recursive subroutine nigh_task(in, out) bind(c)
      import :: c_ptr
      type(c_ptr), value :: in, out
    end subroutine
    ! Iterations first .. last of a loop, both included.
    recursive subroutine nigh_loop_piece(first, last, context) bind(c)
      import :: c_int64_t, c_ptr
      integer(c_int64_t), value :: first, last
      type(c_ptr), value :: context
    end subroutine
  end interface

  type, bind(c) :: loop_call
    type(c_funptr) :: piece
    type(c_ptr) :: context
    integer(c_int64_t) :: first
  end type

  interface
    function c_allocate(options) bind(c, name="nigh_task_queue_allocate") result(queue)
      import :: c_ptr
      type(c_ptr), value :: options
      type(c_ptr) :: queue
    end function
    function c_free(queue) bind(c, name="nigh_task_queue_free") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: queue
      integer(c_int) :: status
    end function
    function c_put(queue, f, in, in_bytes, out) bind(c, name="nigh_put") result(status)
      import :: c_ptr, c_funptr, c_size_t, c_int
      type(c_ptr), value :: queue, in, out
      type(c_funptr), value :: f
      integer(c_size_t), value :: in_bytes
      integer(c_int) :: status
    end function
    function c_run(queue, f, in, in_bytes, out) bind(c, name="nigh_run") result(status)
      import :: c_ptr, c_funptr, c_size_t, c_int
      type(c_ptr), value :: queue, in, out
      type(c_funptr), value :: f
      integer(c_size_t), value :: in_bytes
      integer(c_int) :: status
    end function
    function c_wait(queue) bind(c, name="nigh_wait") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: queue
      integer(c_int) :: status
    end function
    function c_execute(queue) bind(c, name="nigh_execute") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: queue
      integer(c_int) :: status
    end function
    function c_steal(queue) bind(c, name="nigh_steal") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: queue
      integer(c_int) :: status
    end function
    function c_is_empty(queue) bind(c, name="nigh_is_empty") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: queue
      integer(c_int) :: status
    end function
    function c_workers(queue) bind(c, name="nigh_workers") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: queue
      integer(c_int) :: status
    end function
    function c_read_counters(queue, counters) bind(c, name="nigh_read_counters") result(status)
      import :: c_ptr, c_int, nigh_counters
      type(c_ptr), value :: queue
      type(nigh_counters) :: counters
      integer(c_int) :: status
    end function
    function c_parallel_for(begin, end, body, context, schedule) bind(c, name="nigh_parallel_for") &
        result(status)
      import :: c_ptr, c_funptr, c_size_t, c_int
      integer(c_size_t), value :: begin, end
      type(c_funptr), value :: body
      type(c_ptr), value :: context, schedule
      integer(c_int) :: status
    end function
    function nigh_worker_index() bind(c, name="nigh_worker_index") result(index)
      import :: c_int
      integer(c_int) :: index
    end function
    function c_error() bind(c, name="nigh_error") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_version() bind(c, name="nigh_version") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_strlen(text) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

! All are recursive: tasks call them while a call that waits for these tasks has not returned.
! Dummy procedures have names that no program has: gfortran 12 takes them for global ones.
contains

  ! Why the latest call of this thread that failed did so.
  recursive function nigh_error() result(text)
    character(:), allocatable :: text
    text = text_at(c_error())
  end function

  recursive function nigh_version() result(text)
    character(:), allocatable :: text
    text = text_at(c_version())
  end function

  recursive function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(address, letters, [c_strlen(address)])
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

  ! Hands the outcome over, or ends the program when nobody takes a failure.
  recursive subroutine tell(outcome, status)
    integer(c_int), intent(in) :: outcome
    integer(c_int), intent(out), optional :: status
    if (present(status)) then
      status = min(outcome, nigh_ok)
    else if (outcome < 0) then
      write (error_unit, "(a)") nigh_error()
      error stop
    end if
  end subroutine

  ! Calls the_piece(from, to, context) for pieces from .. to that together are first .. last, possibly at
  ! once, and returns when all have returned; without iterations, as a do loop, at once. The schedule
  ! as in docs/loops.md: "static", "static,16", "dynamic,4", "guided", "adaptive" or "local"; blanks
  ! behind it do not count. More than 2**63 - 1 iterations are nigh_bad_argument, and the one failure
  ! that nigh_error() does not know.
  recursive subroutine nigh_parallel_for(first, last, the_piece, context, schedule, status)
    integer(c_int64_t), intent(in) :: first, last
    procedure(nigh_loop_piece) :: the_piece
    type(c_ptr), intent(in) :: context
    character(*), intent(in), optional :: schedule
    integer(c_int), intent(out), optional :: status
    type(loop_call), target :: loop
    character(kind=c_char, len=:), allocatable, target :: text
    type(c_ptr) :: how
    integer(c_size_t) :: count
    if (first < 1 .and. last > huge(last) - 1 + min(first, 0_c_int64_t)) then  ! last - first + 1 would overflow
      if (.not. present(status)) error stop "nigh_parallel_for: more than 2**63 - 1 iterations"
      status = nigh_bad_argument
      return
    end if
    loop = loop_call(c_funloc(the_piece), context, first)
    how = c_null_ptr
    if (present(schedule)) then
      text = trim(schedule) // c_null_char
      how = c_loc(text)
    end if
    count = 0
    if (last >= first) count = int(last - first + 1, c_size_t)
    call tell(c_parallel_for(0_c_size_t, count, c_funloc(run_piece), c_loc(loop), how), status)
  end subroutine

  recursive subroutine run_piece(begin, end, context) bind(c)
    integer(c_size_t), value :: begin, end
    type(c_ptr), value :: context
    type(loop_call), pointer :: loop
    procedure(nigh_loop_piece), pointer :: piece
    call c_f_pointer(context, loop)
    call c_f_procpointer(loop%piece, piece)
    call piece(loop%first + begin, loop%first + end - 1, loop%context)
  end subroutine

  recursive subroutine queue_allocate(self, options, status)
    class(task_queue), intent(inout) :: self
    type(nigh_options), intent(in), optional :: options
    integer(c_int), intent(out), optional :: status
    type(nigh_options), target :: sized
    integer(c_int) :: outcome
    if (c_associated(self%handle)) then
      outcome = c_free(self%handle)
      if (outcome /= nigh_ok) then
        call tell(outcome, status)
        return
      end if
      self%handle = c_null_ptr
    end if
    if (present(options)) then
      sized = options
      sized%size = c_sizeof(sized)
      self%handle = c_allocate(c_loc(sized))
    else
      self%handle = c_allocate(c_null_ptr)
    end if
    call tell(merge(nigh_ok, nigh_bad_argument, c_associated(self%handle)), status)
  end subroutine

  recursive subroutine queue_free(self, status)
    class(task_queue), intent(inout) :: self
    integer(c_int), intent(out), optional :: status
    integer(c_int) :: outcome
    outcome = c_free(self%handle)
    if (outcome == nigh_ok) self%handle = c_null_ptr
    call tell(outcome, status)
  end subroutine

  recursive subroutine queue_wait(self, status)
    class(task_queue), intent(in) :: self
    integer(c_int), intent(out), optional :: status
    call tell(c_wait(self%handle), status)
  end subroutine

  recursive function queue_execute(self, status) result(ran)
    class(task_queue), intent(in) :: self
    integer(c_int), intent(out), optional :: status
    logical :: ran
    integer(c_int) :: outcome
    outcome = c_execute(self%handle)
    ran = outcome > 0
    call tell(outcome, status)
  end function

  recursive function queue_steal(self, status) result(tasks)
    class(task_queue), intent(in) :: self
    integer(c_int), intent(out), optional :: status
    integer(c_int) :: tasks
    integer(c_int) :: outcome
    outcome = c_steal(self%handle)
    tasks = max(outcome, 0)
    call tell(outcome, status)
  end function

  recursive function queue_is_empty(self, status) result(empty)
    class(task_queue), intent(in) :: self
    integer(c_int), intent(out), optional :: status
    logical :: empty
    integer(c_int) :: outcome
    outcome = c_is_empty(self%handle)
    empty = outcome > 0
    call tell(outcome, status)
  end function

  recursive function queue_workers(self, status) result(workers)
    class(task_queue), intent(in) :: self
    integer(c_int), intent(out), optional :: status
    integer(c_int) :: workers
    integer(c_int) :: outcome
    outcome = c_workers(self%handle)
    workers = max(outcome, 0)
    call tell(outcome, status)
  end function

  recursive function queue_counters(self, status) result(counters)
    class(task_queue), intent(in) :: self
    integer(c_int), intent(out), optional :: status
    type(nigh_counters) :: counters
    counters%size = c_sizeof(counters)
    call tell(c_read_counters(self%handle, counters), status)
  end function

  recursive subroutine put_nothing(self, the_task, out, status)
    class(task_queue), intent(in) :: self
    procedure(nigh_task) :: the_task
    type(*), target, intent(inout) :: out
    integer(c_int), intent(out), optional :: status
    call tell(c_put(self%handle, c_funloc(the_task), c_null_ptr, 0_c_size_t, c_loc(out)), status)
  end subroutine

  recursive subroutine put_int32(self, the_task, in, out, status)
    class(task_queue), intent(in) :: self
    procedure(nigh_task) :: the_task
    integer(c_int32_t), target, intent(in) :: in
    type(*), target, intent(inout) :: out
    integer(c_int), intent(out), optional :: status
    call tell(c_put(self%handle, c_funloc(the_task), c_loc(in), c_sizeof(in), c_loc(out)), status)
  end subroutine

  recursive subroutine put_int64(self, the_task, in, out, status)
    class(task_queue), intent(in) :: self
    procedure(nigh_task) :: the_task
    integer(c_int64_t), target, intent(in) :: in
    type(*), target, intent(inout) :: out
    integer(c_int), intent(out), optional :: status
    call tell(c_put(self%handle, c_funloc(the_task), c_loc(in), c_sizeof(in), c_loc(out)), status)
  end subroutine

  recursive subroutine put_real32(self, the_task, in, out, status)
    class(task_queue), intent(in) :: self
    procedure(nigh_task) :: the_task
    real(c_float), target, intent(in) :: in
    type(*), target, intent(inout) :: out
    integer(c_int), intent(out), optional :: status
    call tell(c_put(self%handle, c_funloc(the_task), c_loc(in), c_sizeof(in), c_loc(out)), status)
  end subroutine

  recursive subroutine put_real64(self, the_task, in, out, status)
    class(task_queue), intent(in) :: self
    procedure(nigh_task) :: the_task
    real(c_double), target, intent(in) :: in
    type(*), target, intent(inout) :: out
    integer(c_int), intent(out), optional :: status
    call tell(c_put(self%handle, c_funloc(the_task), c_loc(in), c_sizeof(in), c_loc(out)), status)
  end subroutine

  recursive subroutine put_bytes(self, the_task, in, in_bytes, out, status)
    class(task_queue), intent(in) :: self
    procedure(nigh_task) :: the_task
    type(*), target, intent(in) :: in
    integer(c_size_t), intent(in) :: in_bytes
    type(*), target, intent(inout) :: out
    integer(c_int), intent(out), optional :: status
    call tell(c_put(self%handle, c_funloc(the_task), c_loc(in), in_bytes, c_loc(out)), status)
  end subroutine

  recursive subroutine run_nothing(self, the_task, out, status)
    class(task_queue), intent(in) :: self
    procedure(nigh_task) :: the_task
    type(*), target, intent(inout) :: out
    integer(c_int), intent(out), optional :: status
    call tell(c_run(self%handle, c_funloc(the_task), c_null_ptr, 0_c_size_t, c_loc(out)), status)
  end subroutine

  recursive subroutine run_int32(self, the_task, in, out, status)
    class(task_queue), intent(in) :: self
    procedure(nigh_task) :: the_task
    integer(c_int32_t), target, intent(in) :: in
    type(*), target, intent(inout) :: out
    integer(c_int), intent(out), optional :: status
    call tell(c_run(self%handle, c_funloc(the_task), c_loc(in), c_sizeof(in), c_loc(out)), status)
  end subroutine

  recursive subroutine run_int64(self, the_task, in, out, status)
    class(task_queue), intent(in) :: self
    procedure(nigh_task) :: the_task
    integer(c_int64_t), target, intent(in) :: in
    type(*), target, intent(inout) :: out
    integer(c_int), intent(out), optional :: status
    call tell(c_run(self%handle, c_funloc(the_task), c_loc(in), c_sizeof(in), c_loc(out)), status)
  end subroutine

  recursive subroutine run_real32(self, the_task, in, out, status)
    class(task_queue), intent(in) :: self
    procedure(nigh_task) :: the_task
    real(c_float), target, intent(in) :: in
    type(*), target, intent(inout) :: out
    integer(c_int), intent(out), optional :: status
    call tell(c_run(self%handle, c_funloc(the_task), c_loc(in), c_sizeof(in), c_loc(out)), status)
  end subroutine

  recursive subroutine run_real64(self, the_task, in, out, status)
    class(task_queue), intent(in) :: self
    procedure(nigh_task) :: the_task
    real(c_double), target, intent(in) :: in
    type(*), target, intent(inout) :: out
    integer(c_int), intent(out), optional :: status
    call tell(c_run(self%handle, c_funloc(the_task), c_loc(in), c_sizeof(in), c_loc(out)), status)
  end subroutine

  recursive subroutine run_bytes(self, the_task, in, in_bytes, out, status)
    class(task_queue), intent(in) :: self
    procedure(nigh_task) :: the_task
    type(*), target, intent(in) :: in
    integer(c_size_t), intent(in) :: in_bytes
    type(*), target, intent(inout) :: out
    integer(c_int), intent(out), optional :: status
    call tell(c_run(self%handle, c_funloc(the_task), c_loc(in), in_bytes, c_loc(out)), status)
  end subroutine
end module
