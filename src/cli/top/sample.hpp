// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a coordinator said at a moment, and what changed since the moment before.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/quota_shares.hpp"
#include "coordinator/client/status.hpp"
#include "coordinator/protocol/message.hpp"

namespace nigh::cli::top {

// By the second. Nothing while only one moment is known, or the coordinator is another one since.
struct Rates {
  double grants = 0;
  double revocations = 0;
  double watts = 0;
  std::map<std::uint32_t, double> granted;  // by program's number
};

struct Sample {
  std::string socket;
  std::optional<coordinator::HostStatus> status;
  std::string why_not;                           // there is no status
  std::optional<Rates> rates;                    //
  std::map<std::uint32_t, std::string> regions;  // names, by program's number
  std::map<std::uint32_t, std::string> pools;    // of threads that are leased no cpus
  std::vector<QuotaShare> quotas = {};           // usually none
};

std::optional<Rates> rates_between(coordinator::HostStatus const& before,
                                   coordinator::HostStatus const& now);

// A letter for each program, the same for as long as it is there: from the front, those that are
// free; '+' where all are taken.
class Letters {
 public:
  void give_to(coordinator::HostStatus const& status);
  char of(std::uint32_t program) const;
  // Counts letters: who has the same colour is far apart.
  int colour_of(std::uint32_t program) const;

 private:
  std::map<std::uint32_t, int> nth_;
};

}  // namespace nigh::cli::top
