// SPDX-License-Identifier: Apache-2.0
// numbers: how often a thread's number in libomp, as the program asks for it, is another than libomp
// itself says: outside of regions, in tasks, in regions inside others, and in a child that a region
// forks, before and in a region of its own.

#include <dlfcn.h>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

extern "C" int __kmpc_global_thread_num(void* where);
extern "C" int __kmpc_global_num_threads(void* where);

namespace {

using Number = int (*)(void*);
Number libomps_own = nullptr;

// Another library may stand before libomp for the one, but not for the other.
bool find_libomp() {
  Dl_info in;
  if (dladdr(reinterpret_cast<void*>(&__kmpc_global_num_threads), &in) == 0) return false;
  void* const libomp = dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (libomp == nullptr) return false;
  libomps_own = reinterpret_cast<Number>(dlsym(libomp, "__kmpc_global_thread_num"));
  return libomps_own != nullptr;
}

std::atomic<long> wrong{0};

void look() {
  if (__kmpc_global_thread_num(nullptr) != libomps_own(nullptr)) ++wrong;
}

void tasks() {
  for (int i = 0; i < 50; ++i) {
#pragma omp task
    {
      look();
#pragma omp task
      look();
#pragma omp taskwait
      look();
    }
  }
}

void region() {
#pragma omp parallel
  {
    look();
#pragma omp single
    tasks();
  }
}

int child() {
  wrong = 0;
  look();
#pragma omp parallel num_threads(2)
  {
    look();
#pragma omp single
    tasks();
  }
  look();
  std::printf("child: wrong %ld\n", wrong.load());
  std::fflush(stdout);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main() {
  if (!find_libomp()) return 2;
  omp_set_max_active_levels(2);
  look();
  region();
#pragma omp parallel num_threads(2)
  {
    look();
#pragma omp single
#pragma omp task
    region();
    look();
  }
  std::printf("wrong %ld\n", wrong.load());
  std::fflush(stdout);
  int status = 1;
#pragma omp parallel
#pragma omp master
  {
#pragma omp task
    {
      pid_t const forked = fork();
      if (forked == 0) _exit(child());
      waitpid(forked, &status, 0);
    }
#pragma omp taskwait
  }
  return wrong == 0 && status == 0 ? 0 : 1;
}
