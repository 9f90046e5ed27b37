// SPDX-License-Identifier: Apache-2.0
#include "bench/coordinator/daemon.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <vector>

#include "bench/coordinator/programs.hpp"
#include "bench/processes.hpp"

extern char** environ;

namespace bench {

namespace {

namespace fs = std::filesystem;

std::string nighd() {
  std::string const command = nigh_command();
  return command.empty() ? "" : (fs::path(command).parent_path() / "nighd").string();
}

bool serves(std::string const& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_path.c_str(), sizeof address.sun_path - 1);
  int const s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (s < 0) return false;
  auto const* const generic = reinterpret_cast<sockaddr const*>(&address);
  bool const connected = connect(s, generic, sizeof address) == 0;
  close(s);
  return connected;
}

}  // namespace

std::string Daemon::why_absent() {
  if (nigh_command().empty()) return "there is no nigh command beside this driver";
  if (!fs::exists(nighd())) return "there is no nighd beside the nigh command";
  if (!fs::exists(fs::path(libexec_folder()) / "nigh-openmp.so"))
    return "there is no nigh-openmp.so beside this driver";
  return {};
}

Daemon::Daemon(std::string const& policy) {
  char folder[] = "/tmp/nigh-bench-XXXXXX";
  if (mkdtemp(folder) == nullptr) throw std::runtime_error("no temporary folder for nighd");
  folder_ = folder;
  socket_ = folder_ + "/nighd.sock";
  // Profiles of earlier runs would change the measurement.
  std::vector<std::string> words{nighd(),    "--foreground", "--socket",   socket_,
                                 "--policy", policy,         "--profiles", "none"};
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  int const error = posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) pid_ = -1;
  constexpr int tries = 500;
  for (int n = 0; pid_ > 0 && n < tries; ++n) {
    if (serves(socket_)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  stop();
  throw std::runtime_error(words[0] + " does not serve");
}

Daemon::~Daemon() { stop(); }

void Daemon::stop() noexcept {
  if (pid_ > 0) {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace bench
