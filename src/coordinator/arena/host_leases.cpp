// SPDX-License-Identifier: Apache-2.0
// nigh's own runtimes as programs of the coordinator: each has a connection, and one lease.
//
// Only in processes that `nigh run` started, or whose environment names a coordinator in the same
// way.

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "coordinator/client/job_rank.hpp"
#include "coordinator/client/lease_client.hpp"
#include "platform/bell.hpp"
#include "platform/program.hpp"
#include "platform/thread.hpp"
#include "runtime/cpu_lease.hpp"

namespace nigh::coordinator {
namespace {

// A runtime has no regions, and does not know how many workers its tasks keep busy.
constexpr RegionId whole_runtime = 0;
constexpr Demand unknown{};

class HostLeases final : public tasks::CpuLease {
 public:
  HostLeases(char const* socket, CpuSet const& allowed);
  ~HostLeases() override;

  News news() override;
  void wait(std::optional<std::int64_t> timeout_us) override {
    bell_.wait(connection_.socket(), timeout_us);
  }
  std::optional<std::vector<int>> obtain() override;
  void give_back() override { client_.give_back(); }
  bool pause() noexcept override { return client_.pause(); }
  bool resume() noexcept override { return client_.resume(); }
  void ring() noexcept override { bell_.ring(); }
  void close() noexcept override { connection_.close(); }

  bool is_in_order() const noexcept { return bell_.is_in_order(); }
  void drop() noexcept;  // in a child of fork()

 private:
  ClientConnection connection_;
  LeaseClient client_{connection_};
  platform::Bell bell_;
  bool was_joined_ = false;
  bool has_lease_ = false;
};

// The connections that a child of fork() must close, or the coordinator would not see its parent
// die.
struct Living {
  std::mutex lock;
  std::set<HostLeases*> all;
};
Living& living() {
  static auto& one = *new Living;  // runtimes may outlive the program's statics
  return one;
}

HostLeases::HostLeases(char const* socket, CpuSet const& allowed) {
  auto const name = platform::this_program().filename().string();
  {
    std::lock_guard const guard(living().lock);
    living().all.insert(this);
  }
  was_joined_ = connection_.join(
      {.socket = socket,
       .name = name.c_str(),
       .allowed = allowed,
       .rank = rank_in_job(std::getenv, static_cast<std::uint64_t>(platform::parent_process_id())),
       .listens = true,
       .waits_briefly = true});
}

HostLeases::~HostLeases() {
  std::lock_guard const guard(living().lock);
  living().all.erase(this);
}

void HostLeases::drop() noexcept {
  connection_.drop();
  bell_.drop();
}

void in_child() {
  for (auto* leases : living().all) leases->drop();
  living().all.clear();
  living().lock.unlock();
}

tasks::CpuLease::News HostLeases::news() {
  connection_.look();
  if (!connection_.is_joined()) {
    has_lease_ = false;
    return std::exchange(was_joined_, false) ? News::gone : News::none;
  }
  return has_lease_ && !client_.is_kept() ? News::asked : News::none;
}

std::optional<std::vector<int>> HostLeases::obtain() {
  auto const team = client_.exchange(whole_runtime, unknown);
  has_lease_ = team.size > 0;
  // The coordinator that granted may be gone by now, which is news not yet told.
  was_joined_ = has_lease_ || connection_.is_joined();
  if (!has_lease_) return {};
  return std::vector<int>(team.cpus, team.cpus + team.size);
}

std::unique_ptr<tasks::CpuLease> make(topology const& machine, std::span<int const> cpus) {
  char const* const socket = std::getenv("NIGH_SOCKET");
  char const* const said = std::getenv("NIGH_COORDINATOR");
  if (socket == nullptr || *socket == '\0' || (said != nullptr && std::strcmp(said, "off") == 0) ||
      !machine.is_this_host())
    return nullptr;
  CpuSet allowed;
  for (int const cpu : cpus)
    if (cpu < max_cpus) allowed.add(cpu);
  auto leases = std::make_unique<HostLeases>(socket, allowed);
  if (!leases->is_in_order()) return nullptr;
  return leases;
}

// Registered first, so that fork() takes our lock after those under which runtimes are made.
[[maybe_unused]] bool const made_known = [] {
  platform::at_fork([] { living().lock.lock(); }, [] { living().lock.unlock(); }, in_child);
  tasks::make_cpu_lease = make;
  return true;
}();

}  // namespace
}  // namespace nigh::coordinator
