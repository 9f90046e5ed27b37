// SPDX-License-Identifier: Apache-2.0
// Figures, drawn by the Python scripts in bench/plots (matplotlib) from result lines.

#include "bench/benchmark.hpp"

#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/options.hpp"
#include "bench/results.hpp"

namespace bench {

namespace {

class Plot {
 public:
  // UsageError naming the argument when the file's name does not end in .svg or .png, the file
  // cannot be written, or there is no matplotlib. An empty name: no figure.
  Plot(std::string const& argument, std::string file);

  void add(std::string line) { lines_.push_back(std::move(line)); }
  void draw(std::string const& script) const;  // plots/SCRIPT.py

 private:
  std::string file_;
  std::vector<std::string> lines_;
};

}  // namespace

}  // namespace bench

extern char** environ;

namespace bench {

namespace {

// Exit code of a program, -1 when it cannot be started.
int run_program(std::vector<std::string> words, bool quiet) {
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (quiet) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
  pid_t child = 0;
  int const started = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (started != 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The first Python that has matplotlib: python3 as a shell finds it, then the system's, which a
// virtual environment may hide. Empty: neither has it.
std::string python_with_matplotlib() {
  for (std::string const python : {"python3", "/usr/bin/python3"})
    if (run_program({python, "-c", "import matplotlib"}, true) == 0) return python;
  return {};
}

// Beside the driver, wherever it was installed.
std::string script_path(std::string const& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "plots" / (name + ".py"))
      .string();
}

Plot::Plot(std::string const& argument, std::string file) : file_(std::move(file)) {
  if (file_.empty()) return;
  if (!file_.ends_with(".svg") && !file_.ends_with(".png"))
    throw UsageError(argument + ": " + file_ + " is neither .svg nor .png");
  check_writable(argument, file_);
  if (python_with_matplotlib().empty())
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
  int const code =
      run_program({python_with_matplotlib(), "-B", script_path(script), data, file_}, false);
  std::remove(data);
  if (code != 0) throw std::runtime_error(file_ + ": the figure could not be drawn");
}

void declare(Benchmark const& b, Flags& flags, CLI::App& app) {
  b.options(app);
  app.add_option("--reps,--repetitions", flags.repetitions, "samples of " + b.samples)
      ->type_name("N");
  app.add_flag("--quick", flags.quick, b.quick + ": does it work?");
  app.add_option("--json", flags.json,
                 "write results as JSON lines to this file, - for standard output")
      ->type_name("FILE");
  app.add_option("--plot", flags.plot, "draw the results, .svg or .png")->type_name("FILE");
  if (b.list) app.add_flag("--list", flags.list, "name what can be asked for and leave");
}

void measure(Benchmark const& b, Flags const& flags) {
  if (flags.list) return b.list();
  Plan const plan = b.plan();
  if (plan.instead) return plan.instead();
  // Where a file cannot be written, this says so before anything is measured.
  Plot plot("--plot", flags.plot);
  ResultFile json("--json", flags.json);
  RunRecord const record = record_run(*plan.machine);
  std::FILE* const tables = flags.json == "-" ? stderr : stdout;
  bool verified = true;
  for (auto const& part : plan.parts) {
    Findings const found = part();
    fmt::print(tables, "{}", found.text);
    for (Result const& r : found.results) {
      std::string line = json_line(r, record);
      json.write(line);
      plot.add(std::move(line));
      verified = verified && r.verified.value_or(true);
    }
  }
  json.finish();
  plot.draw(b.name);
  if (!verified) throw std::runtime_error(b.wrong);
}

}  // namespace

int run_benchmark(Benchmark const& b, Flags& flags, int argc, char** argv) {
  if (b.process == Benchmark::Process::deep_tasks) allow_deep_stacks();
  if (b.process != Benchmark::Process::plain) restart_with_openmp_settings(argv);
  return run_command(
      b.name, b.measures, argc, argv, [&](CLI::App& app) { declare(b, flags, app); },
      [&] { measure(b, flags); });
}

}  // namespace bench
