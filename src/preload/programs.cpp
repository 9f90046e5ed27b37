// SPDX-License-Identifier: Apache-2.0
// Programs that a program starts inherit the cpus of the thread that starts them, which would be
// its one place; so do threads that libc makes by itself. For fork(), places.cpp frees the child.
// posix_spawn(), system(), popen() and vfork() run nothing in the child, so they are handled here.
// A program that makes the system call execve itself is not seen.

#include <alloca.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>

#include <cstddef>
#include <initializer_list>

#include "preload/places.hpp"

namespace {

using nigh::preload::Next;
using nigh::preload::OnAllPlaces;

constinit Next next_execve{"execve"}, next_execv{"execv"}, next_execvp{"execvp"},
    next_execvpe{"execvpe"}, next_fexecve{"fexecve"}, next_execveat{"execveat"},
    next_posix_spawn{"posix_spawn"}, next_posix_spawnp{"posix_spawnp"}, next_system{"system"},
    next_popen{"popen"}, next_wordexp{"wordexp"}, next_thrd_create{"thrd_create"},
    next_timer_create{"timer_create"};

// A child after vfork() should not look anything up.
__attribute__((constructor)) void look_up() {
  for (Next* const next :
       {&next_execve, &next_execv, &next_execvp, &next_execvpe, &next_fexecve, &next_execveat})
    static_cast<void>(next->address());
}

// There is a libc, else the program would not run.
template <class Function, class... Arguments>
auto pass_on(Next& next, Arguments... arguments) {
  OnAllPlaces const here;
  return reinterpret_cast<Function*>(next.address())(arguments...);
}

// Of execl() and the like, up to the null after the last one. The first is no null, as libc has
// declared.
int count_words(va_list* words) {
  int count = 1;
  while (count < INT_MAX - 1 && va_arg(*words, char*) != nullptr) ++count;
  return count;
}

void copy_words(char const* first, va_list* words, int count, char** to) {
  for (int i = 0; i < count; ++i) to[i] = i == 0 ? const_cast<char*>(first) : va_arg(*words, char*);
  to[count] = nullptr;
}

}  // namespace

#define NIGH_VISIBLE extern "C" __attribute__((visibility("default")))

NIGH_VISIBLE int execve(char const* file, char* const words[], char* const variables[]) noexcept {
  return pass_on<int(char const*, char* const*, char* const*)>(next_execve, file, words, variables);
}
NIGH_VISIBLE int execv(char const* file, char* const words[]) noexcept {
  return pass_on<int(char const*, char* const*)>(next_execv, file, words);
}
NIGH_VISIBLE int execvp(char const* file, char* const words[]) noexcept {
  return pass_on<int(char const*, char* const*)>(next_execvp, file, words);
}
NIGH_VISIBLE int execvpe(char const* file, char* const words[], char* const variables[]) noexcept {
  return pass_on<int(char const*, char* const*, char* const*)>(next_execvpe, file, words,
                                                               variables);
}
NIGH_VISIBLE int fexecve(int file, char* const words[], char* const variables[]) noexcept {
  return pass_on<int(int, char* const*, char* const*)>(next_fexecve, file, words, variables);
}
NIGH_VISIBLE int execveat(int folder, char const* file, char* const words[],
                          char* const variables[], int flags) noexcept {
  if (next_execveat.address() == nullptr) {  // glibc has it from 2.34 on
    errno = ENOSYS;
    return -1;
  }
  return pass_on<int(int, char const*, char* const*, char* const*, int)>(
      next_execveat, folder, file, words, variables, flags);
}

// libc's execl() calls its own execve(). The words are in the frame of the caller, as in libc: a
// child after vfork() must not allocate.
#define NIGH_WORDS(words)                                                                         \
  va_list words##_read;                                                                           \
  va_start(words##_read, first);                                                                  \
  int const words##_count = count_words(&words##_read);                                           \
  va_end(words##_read);                                                                           \
  auto** const words =                                                                            \
      static_cast<char**>(alloca((static_cast<std::size_t>(words##_count) + 1) * sizeof(char*))); \
  va_start(words##_read, first);                                                                  \
  copy_words(first, &words##_read, words##_count, words)

NIGH_VISIBLE int execl(char const* file, char const* first, ...) noexcept {
  NIGH_WORDS(words);
  va_end(words_read);
  return execv(file, words);
}
NIGH_VISIBLE int execlp(char const* file, char const* first, ...) noexcept {
  NIGH_WORDS(words);
  va_end(words_read);
  return execvp(file, words);
}
NIGH_VISIBLE int execle(char const* file, char const* first, ...) noexcept {
  NIGH_WORDS(words);
  static_cast<void>(va_arg(words_read, char*));  // the null
  char** const variables = va_arg(words_read, char**);
  va_end(words_read);
  return execve(file, words, variables);
}

NIGH_VISIBLE int posix_spawn(pid_t* child, char const* file,
                             posix_spawn_file_actions_t const* actions,
                             posix_spawnattr_t const* attributes, char* const words[],
                             char* const variables[]) {
  return pass_on<int(pid_t*, char const*, posix_spawn_file_actions_t const*,
                     posix_spawnattr_t const*, char* const*, char* const*)>(
      next_posix_spawn, child, file, actions, attributes, words, variables);
}
NIGH_VISIBLE int posix_spawnp(pid_t* child, char const* file,
                              posix_spawn_file_actions_t const* actions,
                              posix_spawnattr_t const* attributes, char* const words[],
                              char* const variables[]) {
  return pass_on<int(pid_t*, char const*, posix_spawn_file_actions_t const*,
                     posix_spawnattr_t const*, char* const*, char* const*)>(
      next_posix_spawnp, child, file, actions, attributes, words, variables);
}

NIGH_VISIBLE int system(char const* command) {
  return pass_on<int(char const*)>(next_system, command);
}
NIGH_VISIBLE FILE* popen(char const* command, char const* mode) {
  return pass_on<FILE*(char const*, char const*)>(next_popen, command, mode);
}

// It starts a shell.
NIGH_VISIBLE int wordexp(char const* words, wordexp_t* found, int flags) {
  return pass_on<int(char const*, wordexp_t*, int)>(next_wordexp, words, found, flags);
}

// Threads that libc makes without our pthread_create().
NIGH_VISIBLE int thrd_create(thrd_t* thread, thrd_start_t body, void* argument) {
  return pass_on<int(thrd_t*, thrd_start_t, void*)>(next_thrd_create, thread, body, argument);
}
NIGH_VISIBLE int timer_create(clockid_t clock, sigevent* event, timer_t* timer) noexcept {
  return pass_on<int(clockid_t, sigevent*, timer_t*)>(next_timer_create, clock, event, timer);
}
