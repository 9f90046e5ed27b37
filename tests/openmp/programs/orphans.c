// SPDX-License-Identifier: Apache-2.0
// orphans FIRST SECOND: a program without OpenMP opens two libraries. In a region of the first one
// each thread calls a function of the second one with constructs that bind to no region of its own
// runtime: each call finds a team of one. It prints how many calls were right. Compiled with OpenMP
// itself, it prints instead the sizes of teams in the second library and here, after the library
// has named a number of threads. With PART: such a library.
#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef PART
// It sets a lock, too, whose memory each runtime uses in its own way.
int team_of_three(void) {
  int threads = 0;
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
  omp_set_num_threads(3);
#pragma omp parallel
  {
    omp_set_nest_lock(&lock);
    threads += omp_test_nest_lock(&lock) == 2;
    omp_unset_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
  }
  omp_destroy_nest_lock(&lock);
  return threads;
}

int lonely(void) {
  int team = 0, sum = 0, seen = 0;
#pragma omp barrier
#pragma omp task shared(team)
  {
    int threads = 3;
#ifdef __clang__  // three such teams of libgomp may stand still without nigh
    threads = 0;
#pragma omp parallel num_threads(3) reduction(+ : threads)
    ++threads;
#endif
    team = threads;
  }
#pragma omp taskwait
#pragma omp taskloop reduction(+ : sum) num_tasks(20)
  for (int i = 0; i < 1000; ++i) sum += i;
#pragma omp for
  for (int i = 0; i < 1000; ++i) ++seen;
#pragma omp taskgroup
  {
#pragma omp task shared(seen)
#pragma omp critical
    ++seen;
  }
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
  omp_set_nest_lock(&lock);
  int const times = omp_test_nest_lock(&lock);
  omp_unset_nest_lock(&lock);
  omp_unset_nest_lock(&lock);
  omp_destroy_nest_lock(&lock);
  return team == 3 && sum == 499500 && seen == 1001 && times == 2 && !omp_in_final();
}

int region(int (*inside)(void)) {
  int right = 0;
#pragma omp parallel num_threads(3) reduction(+ : right)
  {
#pragma omp master
    right += inside();
    for (int i = 0; i < 10; ++i) right += inside();
  }
  return right;
}
#else
#include <dlfcn.h>
#include <stdio.h>

#ifdef _OPENMP
static int team(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  ++threads;
  return threads;
}
#endif

int main(int count, char** words) {
  void* const first = count == 3 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void* const second = first != NULL ? dlopen(words[2], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (second == NULL) return 1;
#ifdef _OPENMP
  int (*team_of_three)(void);
  *(void**)&team_of_three = dlsym(second, "team_of_three");
  omp_set_num_threads(2);
  printf("%d threads there", team_of_three());
  printf(", %d here\n", team());
#else
  int (*region)(int (*)(void));
  int (*lonely)(void);
  *(void**)&region = dlsym(first, "region");
  *(void**)&lonely = dlsym(second, "lonely");
  printf("%d of 31\n", region(lonely));
#endif
  return 0;
}
#endif
