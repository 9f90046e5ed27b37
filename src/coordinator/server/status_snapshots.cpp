// SPDX-License-Identifier: Apache-2.0
#include "coordinator/server/status_snapshots.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace nigh::coordinator {
namespace {

constexpr Time second_us = 1'000'000;
constexpr Time per_description_us =
    second_us / static_cast<Time>(StatusSnapshots::descriptions_a_second);

}  // namespace

std::shared_ptr<StatusSnapshots::Snapshot const> StatusSnapshots::taken(
    User& user, Time now, std::function<Snapshot()> const& take) {
  user.debt_us = std::max<Time>(0, user.debt_us - (now - user.last_at));
  user.last_at = now;
  if (user.last == nullptr || user.debt_us <= second_us) {
    user.last = std::make_shared<Snapshot const>(take());
    user.debt_us += static_cast<Time>(user.last->size()) * per_description_us;
  }
  return user.last;
}

Status StatusSnapshots::answer(Connection from, unsigned user_id, std::uint32_t number, Time now,
                               std::function<Snapshot()> const& take) {
  forget_idle_users(now);
  User& user = users_[user_id];
  auto const walk_of_it = [&] {
    return std::find_if(user.walks.begin(), user.walks.end(),
                        [from](Walk const& w) { return w.who == from; });
  };
  bool const is_under_way = walk_of_it() != user.walks.end();
  if (!is_under_way || number == 0) {
    // In the middle of its questions, a forgotten reader goes on with its user's last snapshot.
    bool const goes_on = !is_under_way && number != 0 && user.last != nullptr;
    auto what = goes_on ? user.last : taken(user, now, take);  // which may forget walks
    std::erase_if(user.walks, [from](Walk const& w) { return w.who == from; });
    if (user.walks.size() == most_of_a_user) user.walks.pop_front();
    user.walks.push_back({from, std::move(what)});
  }
  auto const walk = walk_of_it();
  auto const& all = *walk->what;
  auto const found = std::lower_bound(
      all.begin(), all.end(), number,
      [](Status const& s, std::uint32_t wanted) { return s.program != 0 && s.program < wanted; });
  // The last one stands for the host alone.
  Status const status = found == all.end() ? all.back() : *found;
  if (status.program == 0) user.walks.erase(walk);
  return status;
}

void StatusSnapshots::forget(Connection connection, unsigned user_id) {
  auto const user = users_.find(user_id);
  if (user == users_.end()) return;
  std::erase_if(user->second.walks, [connection](Walk const& w) { return w.who == connection; });
}

// A user is remembered while its questions count.
void StatusSnapshots::forget_idle_users(Time now) {
  std::erase_if(users_, [now](auto const& entry) {
    User const& user = entry.second;
    return user.walks.empty() && user.last_at + user.debt_us < now;
  });
}

}  // namespace nigh::coordinator
