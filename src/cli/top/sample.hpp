// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of a coordinator at a moment, and the changes since the moment before.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/quota_shares.hpp"
#include "coordinator/client/status.hpp"
#include "coordinator/protocol/message.hpp"

namespace nigh::cli::top {

// Per second. Nothing for a first sample, or after the coordinator was replaced.
struct Rates {
  double grants = 0;
  double revocations = 0;
  double watts = 0;
  std::map<std::uint32_t, double> granted;  // by program's number
};

struct Sample {
  std::string socket;
  std::optional<coordinator::HostStatus> status;
  std::string why_not;                           // set if there is no status
  std::optional<Rates> rates;                    //
  std::map<std::uint32_t, std::string> regions;  // names, by program's number
  std::map<std::uint32_t, std::string> pools;    // of threads that get no leased cpus
  std::vector<QuotaShare> quotas = {};           // usually none
};

std::optional<Rates> rates_between(coordinator::HostStatus const& before,
                                   coordinator::HostStatus const& now);

// A letter for each program, the same for as long as it is there: the first free ones from the
// front; '+' where all are taken.
class Letters {
 public:
  void give_to(coordinator::HostStatus const& status);
  char of(std::uint32_t program) const;
  // Numbers the letters so that programs with the same colour are far apart.
  int colour_of(std::uint32_t program) const;

 private:
  std::map<std::uint32_t, int> nth_;
};

}  // namespace nigh::cli::top
