// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages of the coordinator's protocol with random contents, all of them valid.

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "coordinator/protocol/message.hpp"

namespace nigh::test {

class RandomMessages {
 public:
  explicit RandomMessages(std::uint64_t seed) : random_(seed) {}

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  std::uint64_t bits() { return random_(); }

  coordinator::Demand demand(std::uint32_t most = coordinator::max_cpus) {
    if (below(8) == 0) return {};
    auto const maximum = 1 + below(most);
    return {maximum, below(maximum + 1)};
  }
  coordinator::CpuTeam team(std::uint32_t cpus = coordinator::max_cpus) {
    std::vector<int> all(cpus);
    for (std::size_t c = 0; c < all.size(); ++c) all[c] = static_cast<int>(c);
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(1 + below(cpus));
    return coordinator::CpuTeam(all);
  }
  coordinator::CpuSet some_cpus() {
    coordinator::CpuSet set;
    for (auto n = 1 + below(20); n > 0; --n)
      set.add(static_cast<int>(below(coordinator::max_cpus)));
    return set;
  }
  coordinator::Name name() {
    std::string text;
    for (auto n = below(80); n > 0; --n) text += static_cast<char>(below(256));
    return coordinator::Name(text);
  }

  coordinator::ProgramMessage from_program() {
    switch (below(6)) {
      case 0: {
        coordinator::Register m{.pid = below(70000),
                                .name = name(),
                                .allowed = some_cpus(),
                                .rank = {},
                                .listens = 0,
                                .binary = bits()};
        if (below(2) == 0) {
          m.rank = {.job = 1 + bits() / 2, .rank = 0, .ranks = 1 + below(64)};
          m.rank.rank = below(m.rank.ranks);
        }
        m.listens = static_cast<std::uint8_t>(below(2));
        return m;
      }
      case 1:
        return coordinator::Request{
            bits(),   below(100),
            demand(), below(2) == 0 ? below(1024) : coordinator::unknown_place,
            bits(),   below(2) == 0 ? 0 : below(200'000)};
      case 2:
        return coordinator::Claim{bits(), below(100), demand(), team()};
      case 3:
        return coordinator::Release{1 + below(1000)};
      case 4:
        return coordinator::Report{bits(), 1 + below(1024), 1 + bits() / 4,
                                   below(coordinator::last_trial + 1)};
      default:
        return coordinator::Query{below(100)};
    }
  }
  coordinator::CoordinatorMessage from_coordinator() {
    switch (below(7)) {
      case 0:
        return coordinator::Welcome{1 + below(1000), 1 + below(1024)};
      case 1:
        return coordinator::Grant{1 + bits() / 2, below(100), below(1025),
                                  static_cast<std::uint8_t>(below(2)), team()};
      case 2:
        return coordinator::Revoke{1 + bits() / 2,
                                   static_cast<coordinator::Revoke::Reason>(below(3))};
      case 3:
        return coordinator::Refusal{below(100),
                                    static_cast<coordinator::Refusal::Reason>(below(10))};
      case 4:
        return coordinator::Unplaced{below(100)};
      case 5: {
        coordinator::Advice m{.region = bits(), .maximum = below(1025)};
        if (below(2) == 0) m.limit = m.maximum;
        if (below(2) == 0) m.trial = 1 + below(coordinator::last_trial), m.size = 1 + below(1024);
        return m;
      }
      default: {
        coordinator::Status m;
        m.cpus = below(1025);
        m.free = below(m.cpus + 1);
        m.up_us = bits();
        m.grants = bits();
        m.measures_energy = static_cast<std::uint8_t>(below(2));
        m.energy_uj = bits();
        m.external_load = some_cpus();
        m.has_unseen_load = static_cast<std::uint8_t>(below(2));
        m.unplaced = bits();
        m.ran_unplaced = bits();
        m.program = below(50);
        m.user = below(100);
        m.started = bits();
        m.name = name();
        m.holds = some_cpus();
        m.region = bits();
        m.learnt = demand();
        m.efficiency = below(1001);
        m.waiting_us = bits();
        m.granted = bits();
        m.waited_us = bits();
        m.used_uj = bits();
        m.tasks = bits();
        m.stolen = bits();
        return m;
      }
    }
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace nigh::test
