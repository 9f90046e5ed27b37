// SPDX-License-Identifier: Apache-2.0
#pragma once
// A server for tests, in a thread and a directory of its own, for a machine of eight cpus.

#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coordinator/client/connection.hpp"
#include "coordinator/server/server.hpp"
#include "platform/local_listener.hpp"
#include "temporary_folder.hpp"

namespace nigh::coordinator {

// A region that takes all it can have.
inline constexpr Demand all_cpus{64, 64};

class RunningServer {
 public:
  explicit RunningServer(std::optional<std::chrono::microseconds> idle_exit = {},
                         Time slice_us = 1000, Keeper keeper = {}, std::vector<int> own_cpus = {})
      : idle_exit_(idle_exit),
        slice_us_(slice_us),
        keeper_(std::move(keeper)),
        own_cpus_(std::move(own_cpus)) {
    socket_ = directory() / "nighd.sock";
    for (int cpu = 0; cpu < 8; ++cpu) allowed_.add(cpu);
    start();
  }
  ~RunningServer() { stop(); }

  std::filesystem::path const& directory() const { return folder_.path(); }
  std::string const& socket() const { return socket_; }
  std::string metrics() const { return directory() / "metrics.sock"; }
  ConnectionOptions options() const { return {socket_.c_str(), "test", allowed_}; }
  // As the system numbers it.
  pid_t thread() const {
    while (serving_ == 0) std::this_thread::yield();
    return serving_;
  }
  // Programs that came or left, as the log tells: lines, and what is summed up in some.
  int told_moves() const { return told_moves_; }
  int warnings() const { return warnings_; }
  std::string last_warning() const {
    std::lock_guard const guard(lock_);
    return last_warning_;
  }

  void stop() {
    if (!thread_.joinable()) return;
    [[maybe_unused]] auto const written = ::write(ending_[1], "x", 1);
    wait_for_end();
  }
  void wait_for_end() {
    thread_.join();
    server_.reset();
    ::close(ending_[0]), ::close(ending_[1]);
  }
  void restart() {
    stop();
    start();
  }

 private:
  void note_move(std::string_view what, std::string_view whom) {
    std::string_view const times = "times=";
    if (what == "program came" || what == "program left") ++told_moves_;
    if (what == "more programs came or left")
      told_moves_ += std::atoi(std::string(whom.substr(times.size())).c_str());
  }
  void start() {
    if (::pipe(ending_) != 0) std::abort();
    ServerOptions options;
    options.listener = *platform::listen_local(socket_, platform::Carries::messages, 0600);
    options.metrics_listener = *platform::listen_local(metrics(), platform::Carries::bytes, 0600);
    options.readers_within_us = 3'000'000;
    options.signals = ending_[0];
    options.core.slice_us = slice_us_;
    options.core.idle_slice_us = 1000;
    options.core.overdue_us = 300'000;
    options.core.claims_us = 60'000'000;
    options.minds_external_load = false;
    options.energy_root = directory() / "system";
    options.cgroup_root = directory() / "system";
    options.log = [this](ServerOptions::Level level, std::string_view what, std::string_view whom) {
      if (level != ServerOptions::Level::warning) return note_move(what, whom);
      ++warnings_;
      std::lock_guard const guard(lock_);
      last_warning_ = std::string(what) + ' ' + std::string(whom);
    };
    options.keeper = keeper_;
    options.own_cpus = own_cpus_;
    if (idle_exit_) options.idle_exit_us = idle_exit_->count();
    auto const machine = topology::from_synthetic("pack:2 numa:1 core:4 pu:1");
    server_ = Server::start(policy::CoreMap::of(*machine), options).value();
    thread_ = std::thread([this] {
      serving_ = ::gettid();
      server_->run();
    });
  }

  test::TemporaryFolder const folder_;
  std::string socket_;
  CpuSet allowed_{};
  std::optional<std::chrono::microseconds> idle_exit_;
  Time slice_us_;
  Keeper keeper_;
  std::vector<int> own_cpus_;
  std::atomic<int> warnings_ = 0;
  std::atomic<int> told_moves_ = 0;
  mutable std::mutex lock_;
  std::string last_warning_;
  int ending_[2] = {-1, -1};
  std::unique_ptr<Server> server_;
  std::atomic<pid_t> serving_ = 0;
  std::thread thread_;
};

}  // namespace nigh::coordinator
