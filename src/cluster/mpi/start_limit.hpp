// SPDX-License-Identifier: Apache-2.0
#pragma once
// StartLimit: while it lives, this process may be in MPI's start for a while, and ends after that.
//
// MPI starts when all ranks have come. Where the launcher was told not to end the others when one
// is lost, nobody else ends their wait for one that is lost on its way there.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace nigh::cluster::mpi {

// NIGH_CLUSTER_START, or five minutes. Nothing: no limit, since the launcher ends ranks that wait
// in vain, or since that was asked for. std::invalid_argument: it is no time.
std::optional<std::chrono::microseconds> start_limit_of_environment();

class StartLimit {
 public:
  explicit StartLimit(std::optional<std::chrono::microseconds> limit);
  ~StartLimit();
  StartLimit(StartLimit&&) = delete;

 private:
  void watch(std::chrono::microseconds limit);

  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace nigh::cluster::mpi
