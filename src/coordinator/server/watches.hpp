// SPDX-License-Identifier: Apache-2.0
#pragma once
// Changes of the host that the server looks for twice a second while programs are there, as events
// for the core.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "coordinator/core/coordinator.hpp"
#include "coordinator/server/server_log.hpp"
#include "platform/cgroup.hpp"
#include "platform/energy.hpp"
#include "policy/cpus/user_share.hpp"

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
//
// Reading the cgroups of one program may take a millisecond. So the server reads them in rounds, a
// few programs in each look. Users take turns, whatever number of programs they have. Within a user
// every other turn goes to programs that hold cpus and to those that have not been read yet.
class CgroupWatch {
 public:
  static constexpr std::size_t most_in_a_round = 64;
  static constexpr Time between_looks_us = 20'000;
  // For the programs of a user that come: microseconds of reading. Beyond that a program's cgroups
  // are not read at once, but in the next round.
  static constexpr policy::Rate newcomers{100'000, 20'000};

  // A look ends after the first program with which it has taken so long.
  explicit CgroupWatch(std::filesystem::path root, Time look_us = 2'000)
      : root_(std::move(root)), look_us_(look_us) {}

  std::vector<Event> come(Connection connection, Peer const& peer, policy::CoreMap const& machine,
                          Time now);
  void leave(Connection connection, unsigned user);
  // `holders` have cpus: as Coordinator::holders().
  void begin_round(std::vector<std::pair<std::uint32_t, Connection>> const& holders, Time now);
  std::vector<Event> look(policy::CoreMap const& machine, Time now);
  // When the next look of this round is due; nothing: the round is over.
  std::optional<Time> due() const noexcept { return due_; }

 private:
  struct Program {
    Peer peer{};
    std::vector<QuotaBound> bounds{};  // the last ones given to the core
    CpuSet cpuset{};
    std::uint64_t round = 0;  // in which it was read last
  };
  struct User {
    std::map<Connection, Program> programs{};
    std::set<Connection> urgent{};  // of these, to be read sooner
    Connection last = 0;
    Connection last_urgent = 0;
    bool is_for_urgent = true;  // its next turn
    policy::TokenBucket newcomers{};
  };
  std::optional<Connection> next_of(User& user) const;
  static void read(Connection whose, Program& program, platform::CgroupReader& reader,
                   policy::CoreMap const& machine, std::vector<Event>& changes);

  std::filesystem::path root_;
  Time look_us_;
  std::map<unsigned, User> users_;
  std::size_t programs_ = 0;
  unsigned last_user_ = 0;
  std::uint64_t round_ = 1;
  std::size_t left_ = 0;  // to be read in this round
  std::optional<Time> due_{};
};

}  // namespace nigh::coordinator
