// SPDX-License-Identifier: Apache-2.0
#include "coordinator/server/server_log.hpp"

namespace nigh::coordinator {

void ServerLog::say(Level level, std::string_view what, Peer const& whom, std::string_view more) {
  if (!write_) return;
  auto const who = "pid=" + std::to_string(whom.pid) + " user=" + std::to_string(whom.user);
  write_(level, what, who + std::string(more));
}

void ServerLog::warn_once(std::string_view what, Peer const& whom, std::string_view more) {
  auto known = warned_.find(what);
  if (known == warned_.end() && warned_.size() < most_kinds) known = warned_.emplace(what, 0).first;
  if (known == warned_.end() || ++known->second > warnings_of_a_kind) return;
  say(Level::warning, what, whom, more);
}

void ServerLog::say_move(std::string_view what, Peer const& whom, Time now) {
  say_unsaid_moves(now);
  if (moves_.may_say(now)) say(Level::info, what, whom);
}

void ServerLog::say_unsaid_moves(Time now) {
  if (auto const due = moves_.due(); !due || *due > now) return;
  auto const moves = moves_.take_unsaid();
  if (write_) write_(Level::info, "more programs came or left", "times=" + std::to_string(moves));
}

}  // namespace nigh::coordinator
