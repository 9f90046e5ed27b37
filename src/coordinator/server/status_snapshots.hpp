// SPDX-License-Identifier: Apache-2.0
#pragma once
// A status is asked for program by program (protocol/message.hpp). All answers to one reader
// describe one moment: that of its first question.
//
// Taking a snapshot costs as much as there are programs. Each user may cause a number of
// descriptions a second; beyond that its questions are answered from the last snapshot. A snapshot
// is taken for a first question only: with more readers of a user than it may have, those that were
// forgotten go on with the last one, and may have answers of two moments.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "coordinator/core/coordinator.hpp"

namespace nigh::coordinator {

class StatusSnapshots {
 public:
  using Snapshot = std::vector<Status>;  // by number; the last entry is for the host alone
  static constexpr std::size_t most_of_a_user = 4;  // more: the oldest is forgotten
  static constexpr std::uint64_t descriptions_a_second = 50'000;

  // The host, and the first program whose number is at least that of the question, if there is one.
  Status answer(Connection from, unsigned user, std::uint32_t number, Time now,
                std::function<Snapshot()> const& take);
  // The reader is gone.
  void forget(Connection connection, unsigned user);

 private:
  struct Walk {
    Connection who = 0;
    std::shared_ptr<Snapshot const> what;
  };
  struct User {
    std::deque<Walk> walks;  // the oldest first
    std::shared_ptr<Snapshot const> last;
    Time last_at = 0;
    Time debt_us = 0;  // the time to pay for snapshots taken; up to a second is lent
  };
  static std::shared_ptr<Snapshot const> taken(User& user, Time now,
                                               std::function<Snapshot()> const& take);
  void forget_idle_users(Time now);

  std::map<unsigned, User> users_;
};

}  // namespace nigh::coordinator
