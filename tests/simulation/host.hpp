// SPDX-License-Identifier: Apache-2.0
#pragma once
// The host's service: a real Server in a process of its own, and what an administrator or the
// system does to it. Another one comes some time after it has left or was killed.

#include <memory>

#include "coordinator/server/server.hpp"
#include "simulation/kernel.hpp"

namespace simulation {

class Host {
 public:
  // `is_besieged`: by a user that takes all it may have, so that few connections are all there are.
  Host(int cpus, bool is_besieged);
  ~Host();  // once the server sleeps
  Host(Host&&) = delete;

  int cpus() const noexcept { return cpus_; }
  std::size_t most_connections() const noexcept { return server_options_.connections; }
  nigh::coordinator::CoordinatorOptions const& options() const noexcept { return options_; }
  // Null while there is none.
  nigh::coordinator::Coordinator const* core() const noexcept {
    return server_ ? &server_->core() : nullptr;
  }
  // It sleeps, and nothing has come for it.
  bool is_idle() const;
  // It sleeps, so that it can be killed without leaving anything on its thread's stack.
  bool is_asleep() const noexcept { return server_ && task_->is_parked; }
  std::uint64_t life() const noexcept { return lives_; }

  void start(Time after);
  void kill();  // while it sleeps; another one comes after a while, as after leave()
  void leave();

 private:
  static Time until_next();
  void run();

  int cpus_;
  nigh::coordinator::CoordinatorOptions options_;
  nigh::coordinator::ServerOptions server_options_;
  Task* task_ = nullptr;
  std::shared_ptr<Signal> signal_;
  std::unique_ptr<nigh::coordinator::Server> server_;
  std::uint64_t lives_ = 0;
};

}  // namespace simulation
