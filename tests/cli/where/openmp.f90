! SPDX-License-Identifier: Apache-2.0
! where-openmp-gfortran: each thread of a team tells where it may run, as far as Fortran can know.
program where_openmp
  use omp_lib
  use iso_c_binding
  implicit none
  interface
    function sched_getcpu() bind(c)
      import :: c_int
      integer(c_int) :: sched_getcpu
    end function
  end interface
  integer, allocatable :: cpus(:), sizes(:)
  integer :: i
  allocate(cpus(omp_get_max_threads()), sizes(omp_get_max_threads()))
  !$omp parallel
  sizes(omp_get_thread_num() + 1) = omp_get_place_num_procs(omp_get_place_num())
  cpus(omp_get_thread_num() + 1) = sched_getcpu()
  !$omp end parallel
  do i = 1, size(cpus)
    print '(a,i0,a,i0,a,i0)', 'thread ', i - 1, ' ', cpus(i), ' of ', sizes(i)
  end do
end program
