// SPDX-License-Identifier: Apache-2.0
#include "cluster/mpi/start_limit.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "base/seconds_variable.hpp"

namespace nigh::cluster::mpi {
namespace {

constexpr std::int64_t five_minutes_us = 300'000'000;

}  // namespace

std::optional<std::chrono::microseconds> start_limit_of_environment() {
  auto const limit = base::seconds_variable("NIGH_CLUSTER_START", five_minutes_us);
  if (limit < 0)
    throw std::invalid_argument(
        "NIGH_CLUSTER_START is not a number of seconds from 0.1 to 86400, or 0 for no limit");
  bool const launcher_ends_all = std::getenv("OMPI_MCA_mpi_ft_enable") == nullptr;
  if (limit == 0 || launcher_ends_all) return std::nullopt;
  return std::chrono::microseconds(limit);
}

StartLimit::StartLimit(std::optional<std::chrono::microseconds> limit) {
  if (limit) thread_ = std::thread([this, limit] { watch(*limit); });
}

StartLimit::~StartLimit() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard const lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  thread_.join();
}

void StartLimit::watch(std::chrono::microseconds limit) {
  std::unique_lock lock(mutex_);
  if (over_.wait_for(lock, limit, [this] { return is_over_; })) return;
  char const* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  std::fprintf(stderr,
               "nigh: rank %s has been waiting in MPI_Init for %.4g s: another rank is lost or "
               "late (NIGH_CLUSTER_START); it ends\n",
               rank == nullptr ? "?" : rank, static_cast<double>(limit.count()) / 1e6);
  std::_Exit(1);  // MPI's start, which has this process, knows no other way out
}

}  // namespace nigh::cluster::mpi
