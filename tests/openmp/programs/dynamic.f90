! SPDX-License-Identifier: Apache-2.0
! dynamic WORD...: as dynamic.cpp does, of its words region, get, dynamic=N and threads=N (one digit).
program dynamic
  use omp_lib
  implicit none
  integer :: i, number, threads
  character(16) :: word
  do i = 1, command_argument_count()
    call get_command_argument(i, word)
    if (index(word, '=') > 0) read (word(index(word, '=') + 1:), *) number
    if (word(1:8) == 'dynamic=') call omp_set_dynamic(number /= 0)
    if (word(1:8) == 'threads=') call omp_set_num_threads(number)
    if (word == 'get') print '(a,i0)', 'dynamic ', merge(1, 0, omp_get_dynamic())
    if (word == 'region') then
      !$omp parallel
      !$omp single
      threads = omp_get_num_threads()
      !$omp end single
      !$omp end parallel
      print '(i0,a,i0)', threads, ' of ', omp_get_max_threads()
    end if
  end do
end program
