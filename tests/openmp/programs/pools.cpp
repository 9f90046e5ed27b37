// SPDX-License-Identifier: Apache-2.0
// pools WORD...: does what the words say, one after the other, with a library as pool_library.c.
//
//   load=FILE,SET,GET  loads it, with these functions
//   beside=N           from now on the coordinator serves N programs (scripted_leases.cpp)
//   close              closes no descriptor
//   region             begins a parallel region
//   inside=N           begins one, and within it does beside=N and close
//   work, set=N, get   are the library's; get prints the size
//   line               waits for a line, or the end of them
//   thread             makes a thread that closes no descriptor
//   fork               what follows is done by a child
//   child              a child does nothing
//   vfork              a child closes no descriptor
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

void (*set)(long);
int (*get)();
int (*work)();

template <class Function>
void find(void* library, char const* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) std::abort();
}

void load(std::string const& words) {
  auto const first = words.find(','), second = words.find(',', first + 1);
  void* const library = dlopen(words.substr(0, first).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::abort();
  }
  find(library, words.substr(first + 1, second - first - 1).c_str(), set);
  find(library, words.substr(second + 1).c_str(), get);
  find(library, "work", work);
}

void serve(std::string const& programs) { setenv("NIGH_TEST_PROGRAMS", programs.c_str(), 1); }

void region(std::string const& programs) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  {
    threads += 1;
#pragma omp master
    if (!programs.empty()) {
      serve(programs);
      close(-1);
    }
  }
  if (threads < 1) std::abort();
}

void end_of_child(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) std::abort();
  std::exit(status == 0 ? 0 : 1);
}

void act(std::string const& word) {
  auto const value = word.substr(word.find('=') + 1);
  if (word.starts_with("load=")) load(value);
  if (word.starts_with("beside=")) serve(value);
  if (word.starts_with("set=")) set(std::stol(value));
  if (word == "close") close(-1);
  if (word == "region") region("");
  if (word.starts_with("inside=")) region(value);
  if (word == "work") work();
  if (word == "get") std::printf("%d\n", get());
  if (word == "line") {
    std::fflush(stdout);
    while (std::getchar() > ' ') {
    }
  }
  if (word == "thread") std::thread([] { close(-1); }).join();
  if (word == "fork") {
    std::fflush(stdout);
    if (pid_t const child = fork(); child != 0) end_of_child(child);
  }
  if (word == "child") {
    pid_t const child = fork();
    if (child == 0) _exit(0);
    if (waitpid(child, nullptr, 0) != child) std::abort();
  }
  if (word == "vfork") {
    pid_t const child = vfork();
    if (child == 0) {
      close(-1);
      _exit(0);
    }
    if (waitpid(child, nullptr, 0) != child) std::abort();
  }
}

}  // namespace

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) act(words[i]);
}
