// SPDX-License-Identifier: Apache-2.0
#include "bench/coordinator/programs.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "bench/processes.hpp"
#include "platform/program.hpp"

namespace bench {

namespace {

namespace fs = std::filesystem;

struct Size {
  char const* value;
  char const* repeat = nullptr;  // for about a second or two of one cpu; null: needs none
};

struct Entry {
  char const* file;
  char const* flag;
  Size tiny;
  std::vector<Size> sizes;  // the last is full size
  std::vector<std::string> varying = {};
};

// Those that are here.
std::vector<Entry> entries() {
  std::vector<Entry> all{
      {"gauss", "--size", {"150"}, {{"1200"}, {"1800"}, {"2400"}}},
      {"mmul", "--size", {"200"}, {{"1024"}, {"1408"}, {"1792"}}},
      {"npb-cg", "--class", {"S"}, {{"W", "6"}, {"A", "4"}}},
      {"npb-ep", "--class", {"S"}, {{"W"}, {"A"}}},
      {"npb-mg", "--class", {"S"}, {{"A"}, {"B"}}, {" Threads", " Time in seconds", " Mop/s"}},
      {"adi", "--size", {"60"}, {{"700"}, {"1100"}, {"1500"}}}};
  std::erase_if(all,
                [](Entry const& e) { return !fs::exists(fs::path(libexec_folder()) / e.file); });
  if (all.empty()) throw std::runtime_error("no programs beside " + libexec_folder());
  return all;
}

SharingProgram program(Entry const& e, Size const& size) {
  std::vector<std::string> words{fs::path(libexec_folder()) / e.file, e.flag, size.value};
  if (size.repeat != nullptr) words.insert(words.end(), {"--repeat", size.repeat});
  return {std::string(e.file) + ' ' + size.value, std::move(words), e.varying};
}

}  // namespace

std::string SharingProgram::lasting(std::string const& output) const {
  std::istringstream in(output);
  std::string kept;
  for (std::string line; std::getline(in, line);)
    if (std::none_of(varying.begin(), varying.end(),
                     [&](std::string const& begin) { return line.starts_with(begin); }))
      kept += line + '\n';
  return kept;
}

std::string nigh_command() {
  fs::path const command = (fs::path(libexec_folder()) / "../../bin/nigh").lexically_normal();
  return fs::exists(command) ? command.string() : "";
}

std::vector<SharingProgram> sharing_programs(bool tiny) {
  std::vector<SharingProgram> all;
  for (Entry const& e : entries()) all.push_back(program(e, tiny ? e.tiny : e.sizes.back()));
  return all;
}

std::vector<SharingProgram> random_programs(bool tiny, int count, unsigned seed,
                                            double mean_pause_seconds) {
  auto const all = entries();
  std::mt19937 random(seed);
  std::vector<SharingProgram> chosen;
  double now = 0;
  for (int i = 0; i < count; ++i) {
    Entry const& e = all[random() % all.size()];
    auto const nth = random() % e.sizes.size();
    chosen.push_back(program(e, tiny ? e.tiny : e.sizes[nth]));
    chosen.back().comes_seconds = now;
    // Exponential pauses: whoever comes knows nothing of the others. Not std's: libraries differ.
    auto const share = (static_cast<double>(random()) + 1) / 4294967296.0;
    now -= std::log(share) * mean_pause_seconds;
  }
  return chosen;
}

}  // namespace bench

extern char** environ;

namespace bench {

namespace {

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
  auto const argv = nigh::platform::pointers_to(words);
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
