// SPDX-License-Identifier: Apache-2.0
// The line of requests that wait, and its order.
//
// A request comes to the line when it is its user's turn, and within the user, its program's. The
// line is short, so that an event costs the same however many requests wait behind it; each user
// has a place there, and a program has one at a time.
//
// The line is made of rounds: a user's second request stands behind the first ones of all others. A
// user that has its part of the cpus, or backs off, stands behind all users that do not.
#include <algorithm>
#include <iterator>
#include <utility>

#include "coordinator/core/coordinator.hpp"

namespace nigh::coordinator {

Coordinator::Kind Coordinator::kind_of(Program const& program) const {
  return quotas_.binds(program.connection) ? under_quota : free_of_quotas;
}

void Coordinator::stand_behind(Waiting request) {
  Program& owner = *request.program;
  request.kind = kind_of(owner);
  if (request.until) ends_of_patience_.emplace(*request.until, request.owner, request.ticket);
  if (request.kind == free_of_quotas) {
    ++behind_;
    behind_wants_ += std::min(request.demand.optimal, owner.allowed_cpus);
  }
  request.suits = std::min(request.demand.optimal, owner.allowed_cpus);
  owner.behind.push_back(std::move(request));
  ++owner.waiting;
  ++owner.user->waiting;
  ++waiting_;
  come_back(owner);
  give_a_turn(owner);
  recount(owner);
}

// Unless it has a turn, or stands in line already.
void Coordinator::give_a_turn(Program& program) {
  if (program.behind.empty() || program.has_turn || program.stands != Stands::nowhere) return;
  program.has_turn = true;
  program.user->turns[kind_of(program)].push_back(program.connection);
  call(*program.user);
}

void Coordinator::call(User& user) {
  if (user.is_called || (user.turns[free_of_quotas].empty() && user.turns[under_quota].empty()))
    return;
  user.is_called = true;
  called_.push_back(&user);
}

Coordinator::Program* Coordinator::next_in_turn(User& user) {
  bool const is_full = queue_.size() + outside_.size() >= options_.line;
  bool has_moved = false;
  do {
    has_moved = false;
    for (int kind = 0; kind < kinds; ++kind) {
      auto const in_line = user.in_line[static_cast<std::size_t>(kind)];
      if (in_line > 0 && (is_full || in_line >= options_.line_of_a_user)) continue;
      auto& turns = user.turns[static_cast<std::size_t>(kind)];
      while (!turns.empty()) {
        auto const found = programs_.find(turns.front());
        turns.pop_front();
        if (found == programs_.end()) continue;
        Program& next = found->second;
        next.has_turn = false;
        if (next.behind.empty() || next.stands != Stands::nowhere) continue;
        if (kind_of(next) == kind) return &next;
        give_a_turn(next);  // its quota is new, or gone
        has_moved = true;
      }
    }
  } while (has_moved);
  return nullptr;
}

// Users that are not served now are called again when one of their requests leaves the line.
void Coordinator::come_forward() {
  while (!called_.empty()) {
    User& user = *called_.front();
    Program* const next = next_in_turn(user);
    called_.pop_front();
    user.is_called = false;
    if (next == nullptr) continue;
    Waiting request = std::move(next->behind.front());
    next->behind.pop_front();
    if (request.kind == free_of_quotas) --behind_, behind_wants_ -= request.suits;
    request.kind = kind_of(*next);
    request.round = std::max(round_, user.next_round);
    user.next_round = request.round + 1;
    ++user.in_line[request.kind];
    next->stands = Stands::outside;
    outside_.push_back(std::move(request));
    recount(*next);
    call(user);
  }
}

void Coordinator::line_up(Waiting request) {
  Program& owner = *request.program;
  bool const is_expected = request.until && is_in_want(owner) && now_ < owner.kept_until;
  request.place_since = is_expected ? owner.want_since : now_;
  owner.stands = Stands::in_line;
  leave_want(owner);  // it waits, which counts more
  recount(owner);
  auto const in_front_of_it = [&](Waiting const& w) {
    User const& other = *w.program->user;
    // Else the other's request would take the cpus that were kept for it.
    if (is_expected && has_waited_longer(*owner.user, other)) return false;
    if (&other != owner.user && w.round != request.round) return w.round < request.round;
    return !w.until || w.place_since <= request.place_since;
  };
  auto place = queue_.end();
  while (place != queue_.begin() && !in_front_of_it(*std::prev(place))) --place;
  queue_.insert(place, std::move(request));
}

// A request that has stood in line or outside, and does no more.
void Coordinator::leave_line(Waiting const& request) {
  Program& owner = *request.program;
  User& user = *owner.user;
  owner.stands = Stands::nowhere;
  --user.in_line[request.kind];
  give_a_turn(owner);
  call(user);
  stop_waiting(request);
}

void Coordinator::stop_waiting(Waiting const& request) {
  Program& owner = *request.program;
  if (request.until) ends_of_patience_.erase({*request.until, request.owner, request.ticket});
  --owner.waiting;
  --owner.user->waiting;
  --waiting_;
  recount(owner);
}

// 0: in front of all others.
int Coordinator::precedence(Program const& program) const noexcept {
  User const& user = *program.user;
  int const of_program = program.back_off.is_on(now_) ? 1 : 0;
  if (competing_users_ < 2) return of_program;
  return of_program + (user.back_off.is_on(now_) ? 4 : has_its_part(user) ? 2 : 0);
}

void Coordinator::order_line() {
  auto const is_before = [this](Waiting const& a, Waiting const& b) {
    return precedence(*a.program) < precedence(*b.program);
  };
  if (!std::is_sorted(queue_.begin(), queue_.end(), is_before))
    std::stable_sort(queue_.begin(), queue_.end(), is_before);
  note_first();
}

void Coordinator::note_first() {
  auto const first = queue_.empty() ? std::pair<Connection, Ticket>()
                                    : std::pair(queue_.front().owner, queue_.front().ticket);
  if (first != first_ || queue_.empty()) first_since_ = now_;
  first_ = first;
}

void Coordinator::note_activity(User const& user) {
  if (active_[0].user != &user) active_[1] = active_[0];
  active_[0] = {&user, now_};
}

// Nothing: no other user has been active for long.
std::optional<Time> Coordinator::expected_until(User const& but_for) const {
  auto const& other = active_[active_[0].user == &but_for ? 1 : 0];
  if (other.user == nullptr || other.at + options_.active_us <= now_) return std::nullopt;
  return other.at + options_.active_us;
}

// A user that backs off has no more than its part, even while the others' cpus are free between two
// of their regions: it would not give them back in time.
int Coordinator::room_while_backing_off(User const& user) const {
  if (!user.back_off.is_on(now_) || !expected_until(user)) return machine_.size();
  int const users = std::max(2, competing_users_);
  return std::max(0, policy::user_part(machine_.size(), users) - user.held);
}

// Counts all programs again, after a change to this one.
void Coordinator::recount(Program& program) {
  User& user = *program.user;
  bool const wants = is_in_want(program);
  bool const is_behind = !program.behind.empty() && program.behind.front().kind == free_of_quotas;
  bool const competes = program.open > program.waiting || program.stands == Stands::in_line ||
                        is_behind || wants || is_returning(program);
  if (competes != program.competes) {
    program.competes = competes;
    int const more = competes ? 1 : -1;
    competing_ += more;
    if (user.competing == (competes ? 0 : 1)) competing_users_ += more;
    user.competing += more;
  }
  int const leaders = competes ? leaders_of(program) : 0;
  leaders_ += leaders - program.leaders;
  program.leaders = leaders;
  quotas_.note(program.connection, {program.held, program.stands == Stands::in_line ? 1 : 0,
                                    program.waiting > 0 || program.held > 0 || wants ? 1 : 0});
}

void Coordinator::check_line() const {
  std::size_t waiting = queue_.size() + outside_.size(), with_patience = 0;
  int competing = 0, leaders = 0, users = 0, behind = 0, behind_wants = 0;
  std::unordered_map<User const*, User> seen;
  for (auto const& [connection, p] : programs_) {
    User& user = seen[p.user];
    ++user.programs;
    user.waiting += p.waiting;
    user.held += p.held;
    user.competing += p.competes ? 1 : 0;
    competing += p.competes ? 1 : 0;
    leaders += p.competes ? leaders_of(p) : 0;
    waiting += p.behind.size();
    for (Waiting const& w : p.behind) {
      with_patience += w.until ? 1U : 0U;
      NIGH_ASSERT(!w.until || now_ < *w.until, "nobody waits behind for longer than it would");
      if (w.kind == free_of_quotas) ++behind, behind_wants += w.suits;
    }
    NIGH_ASSERT(p.behind.empty() || p.stands != Stands::nowhere || p.has_turn,
                "whoever has a request behind has its turn");
    NIGH_ASSERT(p.waiting == p.behind.size() + (p.stands != Stands::nowhere ? 1U : 0U),
                "a program stands in line once");
  }
  auto const count = [&](std::deque<Waiting> const& requests, Stands stands) {
    for (Waiting const& w : requests) {
      NIGH_ASSERT(w.program == &program(w.owner) && w.program->stands == stands,
                  "a program knows where it stands");
      ++seen[w.program->user].in_line[w.kind];
      with_patience += w.until ? 1U : 0U;
    }
  };
  count(queue_, Stands::in_line);
  count(outside_, Stands::outside);
  for (auto const& [id, user] : users_) {
    User const& found = seen[&user];
    NIGH_ASSERT(user.programs == found.programs && user.waiting == found.waiting &&
                    user.held == found.held && user.competing == found.competing &&
                    user.in_line == found.in_line,
                "what users have is counted");
    NIGH_ASSERT(user.waiting == 0 || user.in_line[free_of_quotas] + user.in_line[under_quota] > 0,
                "each user with a request has one in line");
    NIGH_ASSERT(user.in_line[free_of_quotas] <= options_.line_of_a_user &&
                    user.in_line[under_quota] <= options_.line_of_a_user,
                "no user has too many there");
    users += user.competing > 0 ? 1 : 0;
  }
  NIGH_ASSERT(waiting == waiting_ && with_patience == ends_of_patience_.size() &&
                  behind == behind_ && behind_wants == behind_wants_,
              "requests are counted");
  NIGH_ASSERT(competing == competing_ && users == competing_users_ && leaders == leaders_,
              "those who compete are counted");
  for (std::size_t i = 1; i < queue_.size(); ++i)
    NIGH_ASSERT(precedence(*queue_[i - 1].program) <= precedence(*queue_[i].program),
                "whoever has its part stands behind those who do not");
}

}  // namespace nigh::coordinator
