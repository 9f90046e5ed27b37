// SPDX-License-Identifier: Apache-2.0
#include "cli/run/launch_plan.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "base/cpu_list.hpp"
#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/installed_files.hpp"
#include "platform/elf.hpp"
#include "platform/elf_functions.hpp"
#include "platform/own_rights.hpp"
#include "platform/program.hpp"
#include "policy/cpus/team_waiting.hpp"

namespace nigh::cli {
namespace {

using PolicyKind = platform::MemoryPolicy::Kind;

constexpr std::string_view plain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";

std::string shell_word(std::string const& word) {
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return word;
  std::string quoted = "'";
  for (char const c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string numactl_words(platform::MemoryPolicy const& policy) {
  auto const nodes = base::cpu_list(policy.os_nodes);
  switch (policy.kind) {
    case PolicyKind::interleave:
      return "numactl --interleave=" + nodes;
    case PolicyKind::bind:
      return "numactl --membind=" + nodes;
    case PolicyKind::preferred:
      return "numactl --preferred=" + nodes;
    case PolicyKind::first_touch:
      break;
  }
  return "numactl --localalloc";
}

std::vector<std::string> preloaded_by_user() {
  auto files = from_environment("LD_PRELOAD").value_or("");
  std::replace(files.begin(), files.end(), ':', ' ');
  std::istringstream rest(files);
  return {std::istream_iterator<std::string>(rest), {}};
}

bool defines(std::string const& file, char const* function) {
  return platform::defines_any(file.c_str(), {&function, 1}) == platform::Defined::yes;
}

// A tool for OpenMP runtimes exports ompt_start_tool(), to be called by them. libomp has one of its own.
bool has_tool(std::filesystem::path const& program) {
  auto files = preloaded_by_user();
  files.push_back(program.string());
  return std::any_of(files.begin(), files.end(), [](std::string const& file) {
    return defines(file, "ompt_start_tool") && !defines(file, "__kmpc_global_num_threads");
  });
}

// Or a shim of nigh's, from a `nigh run` around this one. Of a name without a folder the loader finds
// the file. A tool that stands in front of a runtime's functions itself has none that only asks.
bool is_openmp_runtime(std::string const& file) {
  constexpr std::array<std::string_view, 4> names{"libgomp", "libomp", "libiomp", "nigh-openmp"};
  auto const name = std::filesystem::path(file).filename().string();
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view start) { return name.starts_with(start); }) ||
         defines(file, "omp_get_wtime");
}

// Another C library, such as musl, lacks functions that ours need: its loader ends the program.
bool is_of_glibc(std::filesystem::path const& loader) {
  auto const name = loader.filename().string();
  constexpr std::array<std::string_view, 3> starts{"ld-linux", "ld64.so.", "ld.so."};
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

bool has_use_for(Plan const& plan, Shim const& shim) {
  return !shim.file.empty() &&
         (!plan.places.empty() || !plan.coordinator.empty() || !plan.spread.empty() ||
          !plan.tasks.empty());
}

// hwloc loads its plugins before anything else. They find devices and read XML, of which binding
// needs nothing, and loading them takes as long as reading the host.
class WithoutPlugins {
 public:
  WithoutPlugins() : is_ours_(std::getenv(variable) == nullptr) {
    if (is_ours_) ::setenv(variable, "", 1);
  }
  WithoutPlugins(WithoutPlugins const&) = delete;
  WithoutPlugins& operator=(WithoutPlugins const&) = delete;
  ~WithoutPlugins() {
    if (is_ours_) ::unsetenv(variable);
  }

 private:
  static constexpr char const* variable = "HWLOC_PLUGINS_PATH";
  bool is_ours_;
};

}  // namespace

std::optional<std::string> from_environment(std::string_view name) {
  char const* const value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return {};
  return value;
}

topology host_to_bind_to() {
  WithoutPlugins const for_this_host;
  auto machine = topology::live();
  if (!machine) throw std::runtime_error(machine.message());
  if (!machine->is_this_host())
    throw UsageError(
        "the environment has hwloc show another machine (HWLOC_XMLFILE, HWLOC_SYNTHETIC): "
        "nothing can be bound there");
  return std::move(machine).value();
}

// The program that the kernel starts for a script: that of its first line, or of env's in it. Empty:
// it is none.
std::string interpreter_of(std::filesystem::path const& script) {
  std::ifstream file(script);
  std::string line(256, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  if (!line.starts_with("#!")) return {};
  std::istringstream words(line.substr(2, line.find('\n') - 2));
  std::string word;
  words >> word;
  if (std::filesystem::path(word).filename() != "env") return word;
  while (words >> word)
    if (!word.starts_with("-") && word.find('=') == word.npos) return word;
  return {};
}

// The file whose loader, rights and libraries count.
std::filesystem::path file_that_runs(std::string const& program) {
  constexpr int most_scripts = 5;  // one run by another: the kernel's limit
  auto path = platform::find_program(program);
  for (int i = 0; i < most_scripts; ++i) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed)) break;
    auto const interpreter = interpreter_of(path);
    auto const next = interpreter.empty() ? "" : platform::find_program(interpreter);
    if (next.empty()) break;
    path = next;
  }
  return path;
}

Shim shim_for(std::string const& program, Purpose purpose) {
  bool const is_for_places = purpose == Purpose::places;
  std::string const loss =
      is_for_places ? "threads that no OpenMP or nigh runtime makes get no places"
      : purpose == Purpose::coordinator ? "its regions get no cpus from the coordinator"
      : purpose == Purpose::spread      ? "its regions are not spread"
      : purpose == Purpose::tasks       ? "its tasks are its runtime's"
                                        : "its regions cannot be seen";
  if (platform::this_program().empty())
    return {{}, loss + ": the system does not say where nigh is installed (/proc/self/exe)"};
  auto const file = libexec_file(is_for_places ? "nigh-places.so" : "nigh-openmp.so");
  auto const tasks = libexec_file("nigh-tasks.so");
  for (auto const& needed : {file, purpose == Purpose::tasks ? tasks : file})
    if (!std::filesystem::exists(needed)) return {{}, loss + ": " + needed.string() + " is missing"};
  std::string const files =
      purpose == Purpose::tasks ? tasks.string() + ":" + file.string() : file.string();
  // The loader takes them for the end of a name, and would complain in each program.
  if (file.string().find_first_of(" :") != std::string::npos)
    return {{},
            loss + ": " + file.string() +
                " cannot be preloaded, because of the space or colon in its name"};
  auto const path = file_that_runs(program);
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return {files};  // and none can be run
  if (platform::drops_preloads(path.c_str()))
    return {{}, program + " has rights of its own, and so preloads nothing: " + loss};
  auto const elf = platform::read_elf(path);
  if (!elf) return {files};
  auto const without = [&](std::string const& why) {
    bool const is_script = path != platform::find_program(program);
    return Shim{{}, program + (is_script ? ", run by " + path.string() + ", " : " ") + why + ": " + loss};
  };
  if (!elf->is_ours) return without("is made for another processor or word size");
  if (!elf->is_dynamic && !is_of_glibc(path)) {  // the loader itself preloads for its program
    auto const openmp = platform::defines_any(path.c_str(), platform::openmp_functions);
    return without(openmp == platform::Defined::yes  ? "is linked statically, OpenMP included"
                   : openmp == platform::Defined::no ? "is linked statically, without OpenMP"
                                                     : "is linked statically");
  }
  if (elf->is_dynamic && !is_of_glibc(elf->loader)) return without("is loaded by " + elf->loader + ", not by glibc");
  // AddressSanitizer ends programs in which a library comes before its own.
  bool const guarded =
      std::any_of(elf->needed.begin(), elf->needed.end(),
                  [](std::string const& lib) { return lib.starts_with("libasan.so"); });
  if (guarded) return without("is built with AddressSanitizer");
  bool const sees_all = from_environment("OMP_TOOL").value_or("") != "disabled";
  if (!is_for_places && sees_all && has_tool(path)) return without("has an OMPT tool");
  return {files};
}

// AddressSanitizer ends a program in which a library comes before its own, such as a child of a
// script. It works all the same unless that library replaces its functions, which ours do not. The
// last of several words counts, so that the user's own stays in force.
//
// The user's own files come first, but no OpenMP runtime: regions would reach it past the shim.
std::vector<std::string> preload_variables(Shim const& shim) {
  auto files = preloaded_by_user();
  files.insert(std::find_if(files.begin(), files.end(), is_openmp_runtime), shim.file);
  auto const options = from_environment("ASAN_OPTIONS").value_or("");
  return {fmt::format("LD_PRELOAD={}", fmt::join(files, ":")),
          "ASAN_OPTIONS=verify_asan_link_order=0" + (options.empty() ? options : ":" + options)};
}

platform::Launch launch_of(Plan const& plan, Shim const& shim, std::vector<std::string> words) {
  platform::Launch launch;
  launch.words = std::move(words);
  launch.variables = plan.variables;
  if (std::ranges::any_of(plan.variables, [](std::string const& variable) {
        return variable.starts_with(policy::blocktime_variable);
      }))
    launch.variables.push_back(std::string(policy::own_blocktime_variable) + "=1");
  launch.removed = plan.removed;
  launch.cpus = plan.cpus;
  launch.memory = plan.memory;
  if (!plan.coordinator.empty())
    launch.variables.push_back("NIGH_SOCKET=" + plan.coordinator);
  else if (from_environment("NIGH_SOCKET") && from_environment("NIGH_COORDINATOR") != "off")
    // otherwise nigh's own runtimes would ask
    launch.variables.emplace_back("NIGH_COORDINATOR=off");
  if (has_use_for(plan, shim))
    for (auto& v : preload_variables(shim)) launch.variables.push_back(std::move(v));
  return launch;
}

std::string as_shell_words(std::vector<std::string> const& words) {
  std::string line;
  for (auto const& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

std::string as_shell_lines(Plan const& plan, Shim const& shim,
                           std::vector<std::string> const& words) {
  auto const launch = launch_of(plan, shim, words);
  std::string lines;
  for (auto const& note : plan.notes) lines += "# " + base::printable(note) + '\n';
  if (!plan.places.empty() && !shim.why_not.empty())
    lines += "# " + base::printable(shim.why_not) + '\n';
  std::string command;
  auto const add = [&command](std::string const& part) {
    command += (command.empty() ? "" : " \\\n  ") + part;
  };
  if (!launch.cpus.empty()) add("taskset -c " + base::cpu_list(launch.cpus));
  if (launch.memory) add(numactl_words(*launch.memory));
  if (!launch.removed.empty() || !launch.variables.empty()) {
    std::string removed;
    for (auto const& name : launch.removed) removed += " -u " + name;
    add("env" + removed);
    for (auto const& v : launch.variables) add(shell_word(v));
  }
  add(as_shell_words(words));
  return lines + command + '\n';
}

}  // namespace nigh::cli
