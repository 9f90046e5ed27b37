// SPDX-License-Identifier: Apache-2.0
#pragma once
// Changes of the host that the server looks for twice a second while programs are there, as events
// for the core.

#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "coordinator/core/coordinator.hpp"
#include "coordinator/server/server_log.hpp"
#include "platform/cgroup.hpp"
#include "platform/energy.hpp"

namespace nigh::coordinator {

// The energy used by the processors' packages.
class EnergyWatch {
 public:
  explicit EnergyWatch(std::filesystem::path root) : meter_(std::move(root)) {}

  // `counts`: report the use since the last look. Otherwise nothing is reported, for that was long
  // ago, and a counter may have run over.
  std::optional<Energy> look(bool counts);

 private:
  platform::EnergyMeter meter_;
  bool is_measured_ = false;
};

// Quotas and cpusets of programs' cgroups, which an administrator or a container's manager may
// change at any time.
class CgroupWatch {
 public:
  static constexpr std::size_t most_looked_at = 64;  // per look; the others next time

  explicit CgroupWatch(std::filesystem::path root) : root_(std::move(root)) {}

  std::vector<Event> come(Connection connection, Peer const& peer, policy::CoreMap const& machine);
  void leave(Connection connection) { programs_.erase(connection); }
  std::vector<Event> look(policy::CoreMap const& machine);

 private:
  struct Program {
    Peer peer{};
    std::vector<QuotaBound> bounds{};  // the last ones given to the core
    CpuSet cpuset{};
  };
  static void look_at(Connection whose, Program& program, platform::CgroupReader& reader,
                      policy::CoreMap const& machine, std::vector<Event>& changes);

  std::filesystem::path root_;
  std::map<Connection, Program> programs_;
  Connection looked_at_last_ = 0;
};

}  // namespace nigh::coordinator
