// SPDX-License-Identifier: Apache-2.0
// starts HOW [vfork]: after a region, the cpus of a program that a pinned thread starts by the
// function HOW, in its own place or in that of a child after vfork().

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr char const* grep = "/bin/grep";
constexpr char const *what = "Cpus_allowed_list", *where = "/proc/self/status";

void start(std::string const& how, int file) {
  char* const words[] = {const_cast<char*>("grep"), const_cast<char*>(what),
                         const_cast<char*>(where), nullptr};
  if (how == "execl") execl(grep, "grep", what, where, nullptr);
  if (how == "execlp") execlp("grep", "grep", what, where, nullptr);
  if (how == "execle") execle(grep, "grep", what, where, nullptr, environ);
  if (how == "execv") execv(grep, words);
  if (how == "execvp") execvp("grep", words);
  if (how == "execve") execve(grep, words, environ);
  if (how == "execvpe") execvpe("grep", words, environ);
  if (how == "fexecve") fexecve(file, words, environ);
  if (how == "execveat") execveat(AT_FDCWD, grep, words, environ, 0);
  if (how == "posix_spawn" || how == "posix_spawnp") {
    pid_t child;
    auto* const spawn = how == "posix_spawn" ? posix_spawn : posix_spawnp;
    if (spawn(&child, grep, nullptr, nullptr, words, environ) == 0) waitpid(child, nullptr, 0);
  }
  if (how == "popen") {
    char line[200] = "";
    std::FILE* const out = popen("grep Cpus_allowed_list /proc/self/status", "r");
    if (out != nullptr && std::fgets(line, sizeof line, out) != nullptr) std::fputs(line, stdout);
    if (out != nullptr) pclose(out);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** words) {
  std::string const how = count > 1 ? words[1] : "execl";
  int const file = open(grep, O_RDONLY | O_CLOEXEC);
  int threads = 0;
#pragma omp parallel
#pragma omp atomic
  ++threads;
  if (threads == 0) return 1;
  if (count <= 2) return start(how, file), 0;
  pid_t const child = vfork();
  if (child == 0) {
    start(how, file);
    _exit(1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status;
}
