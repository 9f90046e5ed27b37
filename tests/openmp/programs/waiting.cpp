// SPDX-License-Identifier: Apache-2.0
// waiting WORD...: how the threads of its teams of two wait.
//
//   calm, quick   begins regions until they wait so, and says it; not for longer than a minute
//   LEASES        the coordinator's script from now on
//   regions       begins twenty, and says how they wait then
//   fork          has a child that ends at once
//
// With libomp the blocktime tells how they wait, with libgomp the number of this process' threads.

#include <dlfcn.h>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace {

int threads() {
  int count = 0;
  std::error_code gone;  // a thread may end meanwhile
  for (auto it = std::filesystem::directory_iterator("/proc/self/task", gone);
       !gone && it != std::filesystem::directory_iterator(); it.increment(gone))
    ++count;
  return count;
}

bool is_calm() {
  auto* const blocktime = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "kmp_get_blocktime"));
  return blocktime != nullptr ? blocktime() == 0 : threads() > 2;
}

void region() {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(2)
  for (int i = 0; i < 100; ++i) sum += i;
  if (sum != 4950) std::exit(1);
}

bool becomes(bool calm) {
  constexpr int looks = 60'000;
  for (int i = 0; i < looks; ++i) {
    region();
    if (is_calm() == calm) return true;
    usleep(1000);
  }
  return false;
}

int run_child() {
  std::fflush(stdout);
  pid_t const child = fork();
  if (child == 0) {
    std::puts("child");
    std::fflush(stdout);
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    char const* const word = words[i];
    bool const calm = std::strcmp(word, "calm") == 0;
    if (calm || std::strcmp(word, "quick") == 0) {
      std::printf("%s%s\n", becomes(calm) ? "" : "never ", word);
    } else if (std::strcmp(word, "regions") == 0) {
      for (int k = 0; k < 20; ++k) region();
      std::puts(is_calm() ? "calm" : "quick");
    } else if (std::strcmp(word, "fork") == 0) {
      if (run_child() != 0) return 1;
    } else {
      setenv("NIGH_TEST_LEASES", word, 1);
    }
  }
}
