// SPDX-License-Identifier: Apache-2.0
// Programs that a program starts inherit the cpus of the thread that starts them, which would be
// its one place. For fork(), places.cpp frees the child. posix_spawn(), system(), popen() and
// vfork() run nothing in the child, so they are handled here.

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/places.hpp"

namespace {

using nigh::preload::Next;
using nigh::preload::OnAllPlaces;

constinit Next next_execve{"execve"}, next_execv{"execv"}, next_execvp{"execvp"},
    next_execvpe{"execvpe"}, next_posix_spawn{"posix_spawn"}, next_posix_spawnp{"posix_spawnp"},
    next_system{"system"}, next_popen{"popen"};

// A child after vfork() should not look anything up.
__attribute__((constructor)) void look_up() {
  for (Next* const next : {&next_execve, &next_execv, &next_execvp, &next_execvpe})
    static_cast<void>(next->address());
}

// There is a libc, else the program would not run.
template <class Function, class... Arguments>
auto pass_on(Next& next, Arguments... arguments) {
  OnAllPlaces const here;
  return reinterpret_cast<Function*>(next.address())(arguments...);
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
