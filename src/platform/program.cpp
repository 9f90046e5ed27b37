// SPDX-License-Identifier: Apache-2.0
#include "platform/program.hpp"

#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>
#include <system_error>

#include "platform/launch.hpp"

extern char** environ;

namespace nigh::platform {
namespace {

std::vector<std::string> environment_with(std::vector<std::string> const& variables) {
  std::vector<std::string> all = variables;
  for (char** have = environ; *have != nullptr; ++have) {
    std::string_view const name(*have, std::strcspn(*have, "=") + 1);
    bool replaced = false;
    for (auto const& v : variables) replaced = replaced || v.starts_with(name);
    if (!replaced) all.emplace_back(*have);
  }
  return all;
}

std::sig_atomic_t volatile has_interrupt_come = 0;

// While a program runs in our place, ^C is for it. has_interrupt_come tells of one, if it was not
// ignored before.
class InterruptsIgnored {
 public:
  InterruptsIgnored() {
    struct sigaction note{};
    note.sa_handler = [](int key) {
      if (key == SIGINT) has_interrupt_come = 1;
    };
    note.sa_flags = SA_RESTART;
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    has_interrupt_come = 0;
    sigemptyset(&were_heeded);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ::sigaction(keys[i], &note, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN)
        ::sigaction(keys[i], &ignore, nullptr);
      else
        sigaddset(&were_heeded, keys[i]);
    }
  }
  ~InterruptsIgnored() {
    for (std::size_t i = 0; i < keys.size(); ++i) ::sigaction(keys[i], &before_[i], nullptr);
  }
  InterruptsIgnored(InterruptsIgnored&&) = delete;

  sigset_t were_heeded;

 private:
  static constexpr std::array<int, 2> keys{SIGINT, SIGQUIT};
  std::array<struct sigaction, 2> before_{};
};

}  // namespace

std::filesystem::path this_program() {
  std::error_code failed;
  auto file = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? std::filesystem::path{} : file;
}

std::filesystem::path program_of(int process) {
  std::error_code failed;
  auto file = std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/exe", failed);
  return failed ? std::filesystem::path{} : file;
}

int process_id() noexcept { return ::getpid(); }
int parent_process_id() noexcept { return ::getppid(); }

bool is_runnable(std::filesystem::path const& file) {
  std::error_code failed;
  return std::filesystem::is_regular_file(file, failed) && ::access(file.c_str(), X_OK) == 0;
}

std::filesystem::path find_program(std::string const& word) {
  if (word.find('/') != word.npos) return word;
  char const* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/bin:/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    auto const file = std::filesystem::path(folder.empty() ? "." : folder) / word;
    if (is_runnable(file)) return file;
  }
  return {};
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

int exit_status(int wait_status) noexcept {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

result<int> wait_for(int child, std::string const& program) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return error{"lost " + program + ": " + std::strerror(errno)};
  return exit_status(status);
}

error become(std::filesystem::path const& program, std::vector<std::string> const& arguments) {
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), program.string());
  ::execv(program.c_str(), pointers_to(words).data());
  return error{"cannot run " + program.string() + ": " + std::strerror(errno)};
}

result<int> run_program(std::vector<std::string> const& words,
                        std::vector<std::string> const& variables) {
  std::vector<std::string> arguments = words;
  std::vector<std::string> environment = environment_with(variables);
  InterruptsIgnored const ignored;
  posix_spawnattr_t as_usual;
  ::posix_spawnattr_init(&as_usual);
  ::posix_spawnattr_setsigdefault(&as_usual, &ignored.were_heeded);
  ::posix_spawnattr_setflags(&as_usual, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  int const failed = ::posix_spawnp(&child, words.front().c_str(), nullptr, &as_usual,
                                    pointers_to(arguments).data(), pointers_to(environment).data());
  ::posix_spawnattr_destroy(&as_usual);
  if (failed != 0) return error{"cannot run " + words.front() + ": " + std::strerror(failed)};
  return wait_for(child, words.front());
}

namespace {

// An attempt of one Python to import the parts.
struct Import {
  int status;  // of another kind: this Python does not run
  std::string complaint;
};
constexpr int not_asked = -2, imported = 0, damaged = 4;  // 3: it is not there

Import try_import(std::string const& python, std::string const& module, std::string const& parts) {
  int const said = ::memfd_create("nigh-python", 0);  // open in the child, too
  if (said < 0) return {not_asked, std::strerror(errno)};
  std::string const text =
      "import signal, sys\n"
      "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
      // A module of the current folder may be anybody's.
      "sys.path[:] = [folder for folder in sys.path if folder]\n"
      "import importlib.util\n"
      "if importlib.util.find_spec('" +
      module +
      "') is None: sys.exit(3)\n"
      "try:\n"
      " import " +
      parts +
      "\n"
      "except BaseException as e:\n"
      " import os\n"
      " os.write(" +
      std::to_string(said) +
      ", (type(e).__name__ + ': ' + str(e).split('\\n')[0]).encode('utf-8', 'replace'))\n"
      " sys.exit(4)\n";
  auto const status =
      run_program({"sh", "-c", "exec \"$0\" \"$@\" >/dev/null 2>&1", python, "-c", text}, {});
  std::array<char, 1000> complaint{};
  ssize_t const length = ::pread(said, complaint.data(), complaint.size(), 0);
  ::close(said);
  // ^C, which run_program() left to a Python that may have had no time to heed it.
  if (has_interrupt_come != 0) die_of(SIGINT);
  return {status ? *status : -1,
          {complaint.data(), static_cast<std::size_t>(length > 0 ? length : 0)}};
}

}  // namespace

result<std::string> python_with(std::string const& module, std::string const& parts) {
  std::vector<std::string> pythons{"python3", "/usr/bin/python3"};
  char const* const first = std::getenv("NIGH_PYTHON");
  bool const is_said = first != nullptr && *first != '\0';
  if (is_said) pythons.insert(pythons.begin(), first);
  std::string why_not;
  for (auto const& python : pythons) {
    auto const found = try_import(python, module, parts);
    if (found.status == imported) return python;
    if (found.status == 128 + SIGINT) die_of(SIGINT);  // ^C, which run_program() left to it
    if (found.status == not_asked && why_not.empty())
      why_not = "cannot ask " + python + " for " + module + ": " + found.complaint;
    if (found.status == damaged && why_not.empty())
      why_not =
          "needs " + module + ", and that of " + python + " is damaged (" + found.complaint + ')';
  }
  if (!why_not.empty()) return error{why_not};
  return error{
      "needs " + module + ", which " +
      (is_said ? "none of " + std::string(first) + ", python3 and" : "neither python3 nor") +
      " /usr/bin/python3 has (Debian: apt install python3-" + module + "; elsewhere: pip install " +
      module + ')'};
}

bool is_static(void const* object) noexcept {
  auto const holds = [](dl_phdr_info* loaded, std::size_t, void* wanted) {
    auto const address = reinterpret_cast<std::uintptr_t>(wanted);
    for (int i = 0; i < loaded->dlpi_phnum; ++i) {
      auto const& part = loaded->dlpi_phdr[i];
      auto const begin = loaded->dlpi_addr + part.p_vaddr;
      if (part.p_type == PT_LOAD && address - begin < part.p_memsz) return 1;
    }
    return 0;
  };
  return ::dl_iterate_phdr(holds, const_cast<void*>(object)) != 0;
}

}  // namespace nigh::platform
