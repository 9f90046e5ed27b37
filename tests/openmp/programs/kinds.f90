! SPDX-License-Identifier: Apache-2.0
! Regions as gfortran makes them.
program kinds
  use omp_lib
  implicit none
  integer :: i, total, a, b
  integer :: v(1000)
  !$omp parallel do
  do i = 1, 1000
    v(i) = i
  end do
  !$omp end parallel do
  print '(a,i0)', 'do ', sum(v)
  total = 0
  !$omp parallel do reduction(+:total) schedule(dynamic, 7)
  do i = 1, 1000
    total = total + v(i)
  end do
  !$omp end parallel do
  print '(a,i0)', 'dynamic ', total
  !$omp parallel workshare
  v = v + 1
  !$omp end parallel workshare
  print '(a,i0)', 'workshare ', sum(v)
  !$omp parallel sections
  !$omp section
  a = 1
  !$omp section
  b = 2
  !$omp end parallel sections
  print '(a,i0)', 'sections ', a + b
  !$omp parallel num_threads(3)
  !$omp single
  a = omp_get_num_threads()
  !$omp end single
  !$omp end parallel
  print '(a,i0)', 'num_threads ', a
end program
