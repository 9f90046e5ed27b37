// SPDX-License-Identifier: Apache-2.0
#include "bench/plot.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "bench/command.hpp"
#include "bench/results.hpp"

extern char** environ;

namespace bench {

namespace {

constexpr char const* python = "/usr/bin/python3";  // where Debian's matplotlib is

// Exit code of a program, -1 when it cannot be started.
int run_program(std::vector<std::string> words, bool quiet) {
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (quiet) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
  pid_t child = 0;
  int const started = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (started != 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Beside the driver, wherever it was installed.
std::string script_path(std::string const& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "plots" / (name + ".py"))
      .string();
}

}  // namespace

Plot::Plot(std::string const& argument, std::string file) : file_(std::move(file)) {
  if (file_.empty()) return;
  if (!file_.ends_with(".svg") && !file_.ends_with(".png"))
    throw UsageError(argument + ": " + file_ + " is neither .svg nor .png");
  check_writable(argument, file_);
  if (run_program({python, "-c", "import matplotlib"}, true) != 0)
    throw UsageError(argument + ": needs matplotlib (Debian: apt install python3-matplotlib)");
}

void Plot::draw(std::string const& script) const {
  if (file_.empty()) return;
  char data[] = "/tmp/nigh-bench-XXXXXX";
  int const fd = mkstemp(data);
  std::FILE* const f = fd < 0 ? nullptr : fdopen(fd, "w");
  if (f == nullptr) throw std::runtime_error("no temporary file for the plot's data");
  for (std::string const& line : lines_) std::fprintf(f, "%s\n", line.c_str());
  std::fclose(f);
  int const code = run_program({python, "-B", script_path(script), data, file_}, false);
  std::remove(data);
  if (code != 0) throw std::runtime_error(file_ + ": the figure could not be drawn");
}

}  // namespace bench
