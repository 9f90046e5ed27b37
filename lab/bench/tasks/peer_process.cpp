// SPDX-License-Identifier: Apache-2.0
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "bench/processes.hpp"
#include "bench/tasks/solver.hpp"
#include "platform/program.hpp"

extern char** environ;

namespace bench {

namespace {

std::filesystem::path program() {  // beside the driver, wherever it was installed
  return std::filesystem::path(libexec_folder()) / ("nigh-peer-" + PeerProcess::family());
}

}  // namespace

std::string PeerProcess::family() {
  return workloads::name_of(workloads::Family::openmp) == "openmp-gcc" ? "openmp-clang"
                                                                       : "openmp-gcc";
}

std::string PeerProcess::why_absent() {
  if (std::filesystem::exists(program())) return {};
  return "no such compiler with OpenMP was there when this was built";
}

void PeerProcess::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error(std::string("socketpair: ") + std::strerror(errno));
  std::vector<std::string> words{program().string()};
  for (int const cpu : cpus_) words.push_back(std::to_string(cpu));
  auto const argv = nigh::platform::pointers_to(words);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  int const error = posix_spawn(&child_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  socket_ = ends[0];
  if (error != 0) {
    child_ = -1;
    stop();
    throw std::runtime_error(words[0] + ": " + std::strerror(error));
  }
}

void PeerProcess::stop() noexcept {
  if (socket_ >= 0) close(socket_);  // the end of its input
  socket_ = -1;
  if (child_ > 0) waitpid(child_, nullptr, 0);
  child_ = -1;
}

std::string PeerProcess::next_line() {
  std::string line;
  for (char c = 0;;) {
    ssize_t const got = recv(socket_, &c, 1, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      stop();
      throw std::runtime_error(family() + " ended without an answer");
    }
    if (c == '\n') return line;
    line += c;
  }
}

std::istringstream PeerProcess::ask(std::string const& request) {
  if (child_ < 0) start();
  std::string const line = request + '\n';
  send(socket_, line.data(), line.size(), MSG_NOSIGNAL);  // when that fails, so does the answer
  std::istringstream words(next_line());
  std::string word;
  if (words >> word; word != "ok") throw std::runtime_error(family() + ": " + words.str());
  return words;
}

Timed PeerProcess::solve(Question const& q, int threads, int times) {
  std::ostringstream request;
  request << "solve " << q.problem << ' ' << q.size << ' ' << q.cutoff << ' ' << threads << ' '
          << times;
  std::istringstream words = ask(request.str());
  Timed t;
  words >> t.answer >> t.seconds;
  return t;
}

std::vector<double> PeerProcess::rendezvous(double pause_us, int count, bool by_loop) {
  std::ostringstream request;
  request << (by_loop ? "rendezvous-loop " : "rendezvous ") << pause_us << ' ' << count;
  std::istringstream words = ask(request.str());
  std::vector<double> samples(static_cast<std::size_t>(count));
  for (double& ns : samples) words >> ns;
  return samples;
}

double PeerProcess::loop(std::string const& request) {
  std::istringstream words = ask(request);
  double seconds = 0;
  words >> seconds;
  return seconds;
}

}  // namespace bench
