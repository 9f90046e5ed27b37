// SPDX-License-Identifier: Apache-2.0
// Requests that do not wait for ever, and programs that got no cpus in time.
#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "coordinator/core/coordinator.hpp"
#include "policy/cpus/lease_patience.hpp"

namespace nigh::coordinator {

using policy::PositionSet;

namespace {

// Programs leave a list as soon as what they are in it for is over.
template <class List, class IsOn, class Leave>
void forget_old(List const& programs, IsOn const& is_on, Leave const& leave) {
  for (std::size_t i = 0; i < programs.size();)
    if (is_on(*programs[i]))
      ++i;
    else
      leave(*programs[i]);
}

}  // namespace

void Coordinator::run_unplaced(Waiting const& request, int want_cpus) {
  auto& owner = *request.program;
  owner.waited += now_ - request.since;
  ++owner.unplaced;
  ++unplaced_;
  --owner.open;
  come_into_want(owner, want_cpus);
  send(request.owner, Unplaced{request.ticket});
}

// Requests whose patience is over. After serve(), so that cpus just returned go to them; and before
// the next serve(), for others stood behind them. A program that its quota keeps outside wants no
// cpus of the host: its cgroup's programs make room for it.
void Coordinator::give_up() {
  auto const has_ended = [this] {
    return !ends_of_patience_.empty() && std::get<Time>(*ends_of_patience_.begin()) <= now_;
  };
  while (has_ended()) {
    while (has_ended()) {
      auto const [until, whose, ticket] = *ends_of_patience_.begin();
      give_up(whose, ticket);
    }
    serve();
  }
}

void Coordinator::give_up(Connection whose, Ticket ticket) {
  Program& owner = program(whose);
  auto const is_it = [&](Waiting const& w) { return w.owner == whose && w.ticket == ticket; };
  auto& line = owner.stands == Stands::in_line ? queue_ : outside_;
  auto const standing =
      owner.stands == Stands::nowhere ? line.end() : std::find_if(line.begin(), line.end(), is_it);
  if (standing != line.end()) {
    Waiting const request = std::move(*standing);
    run_unplaced(request, owner.stands == Stands::in_line ? request.demand.optimal : 0);
    line.erase(standing);
    return leave_line(request);
  }
  auto const behind = std::find_if(owner.behind.begin(), owner.behind.end(), is_it);
  Waiting const request = std::move(*behind);
  owner.behind.erase(behind);
  bool const is_free = request.kind == free_of_quotas;
  if (is_free) --behind_, behind_wants_ -= request.suits;
  run_unplaced(request, is_free ? request.demand.optimal : 0);
  stop_waiting(request);
}

// Each event looks at all programs in want or expected again, so their number is bounded: when
// there are too many, the user with most of them loses its oldest. None: there is room for one
// more.
Coordinator::Program* Coordinator::one_too_many(std::vector<Program*> const& programs) {
  constexpr std::size_t most = 64;
  if (programs.size() < most) return nullptr;
  std::unordered_map<User const*, int> of_user;
  int most_of_one = 0;
  for (auto const* p : programs) most_of_one = std::max(most_of_one, ++of_user[p->user]);
  return *std::find_if(programs.begin(), programs.end(),
                       [&](auto const* p) { return of_user[p->user] == most_of_one; });
}

void Coordinator::come_into_want(Program& program, int want_cpus) {
  leave_want(program);
  if (Program* const oldest = one_too_many(in_want_)) leave_want(*oldest);
  program.want_until = now_ + options_.want_us;
  program.kept_until = now_ + std::min(options_.keep_us, options_.want_us);
  program.want_since = now_;
  program.want_cpus = want_cpus;
  if (options_.want_us > 0) in_want_.push_back(&program);
}

void Coordinator::leave_want(Program& program) {
  program.want_until = 0;
  if (std::erase(in_want_, &program) > 0) recount(program);
}

void Coordinator::forget_old_wants() {
  forget_old(
      in_want_, [this](Program const& p) { return is_in_want(p); },
      [this](Program& p) { leave_want(p); });
}

// The program gives cpus back because others wait, and will ask again at its next region. It
// competes meanwhile: otherwise the last in line would get its part as well, and it would have to
// wait for that.
void Coordinator::expect_again(Program& owner) {
  int const before = is_returning(owner) ? owner.returning : 0;
  leave_returning(owner);
  if (Program* const oldest = one_too_many(returning_)) leave_returning(*oldest);
  owner.returning = before + 1;
  owner.returning_until = now_ + options_.return_us;
  if (options_.return_us > 0) returning_.push_back(&owner);
  recount(owner);
}

// One of its leaders asks again.
void Coordinator::come_back(Program& owner) {
  if (owner.returning > 1)
    --owner.returning;
  else
    leave_returning(owner);
}

void Coordinator::leave_returning(Program& owner) {
  owner.returning = 0;
  if (std::erase(returning_, &owner) > 0) recount(owner);
}

void Coordinator::forget_old_returns() {
  forget_old(
      returning_, [this](Program const& p) { return is_returning(p); },
      [this](Program& p) { leave_returning(p); });
}

// Cpus that the last in line leaves to programs expected again.
int Coordinator::expected_beside(Program const& owner) const {
  int cpus = is_returning(owner) ? owner.returning * attainable(owner) : 0;
  for (auto const* p : returning_)
    if (p != &owner && is_returning(*p))
      cpus += std::max(0, std::min(p->allowed_cpus, equal_part(*p)) - p->held);
  return cpus;
}

void Coordinator::set_slice() {
  bool const is_in_a_hurry =
      anybody_in_want() || std::any_of(queue_.begin(), queue_.end(),
                                       [](Waiting const& w) { return w.until.has_value(); });
  slice_ = is_in_a_hurry ? policy::turn_us(competing_, {options_.slice_us, options_.round_us,
                                                        options_.shortest_slice_us})
                         : options_.slice_us;
}

// The cpus that a program in want would get in equal parts for all.
int Coordinator::lacking_in_want(Program const& program) const {
  if (!is_in_want(program)) return 0;
  int const part = std::min({equal_part(program), program.want_cpus, program.allowed_cpus});
  return std::max(0, part - program.held);
}

int Coordinator::lacking_in_want() const {
  int lacking = 0;
  for (auto const* p : in_want_) lacking += lacking_in_want(*p);
  return lacking;
}

PositionSet Coordinator::wanted_by_the_patient() const {
  PositionSet wanted(machine_.size());
  for (Waiting const& w : queue_)
    if (!w.until) wanted |= w.program->allowed;
  return wanted;
}

// Without a lease, since an earlier time. A user that backs off has waited for nothing.
bool Coordinator::has_waited_longer(User const& one, User const& other) const {
  auto const since = [this](User const& u) { return u.held > 0 ? now_ : u.without_since; };
  return !one.back_off.is_on(now_) && since(one) < since(other);
}

// For a moment after it got nothing: from users that have waited less, and from the same user's
// requests that have been promised a bound. Not from a user that has waited longer: one with many
// such requests always has a program that got nothing a moment ago, and would keep the cpus from
// others for ever. Nor from a request that came earlier: else programs would keep them from each
// other. While it is in want, from a user that has its part while this one has not, and from users
// that back off.
bool Coordinator::is_kept_for(Program const& program, Waiting const& request) const {
  Program const& asker = *request.program;
  if (&program == &asker || !is_in_want(program)) return false;
  bool const is_of_same_user = program.user == asker.user;
  if (now_ < program.kept_until && program.want_since < request.place_since &&
      (is_of_same_user ? request.until.has_value() : has_waited_longer(*program.user, *asker.user)))
    return true;
  if (is_of_same_user) return request.until && asker.back_off.is_on(now_);
  return !has_its_part(*program.user) &&
         (has_its_part(*asker.user) || asker.user->back_off.is_on(now_));
}

bool Coordinator::is_anything_kept_from(Waiting const& request) const {
  return std::any_of(in_want_.begin(), in_want_.end(),
                     [&](auto const* p) { return is_kept_for(*p, request); });
}

// Of the cpus available for a request, those that other programs in want should find: not those
// near to where it runs.
PositionSet Coordinator::kept_from(Waiting const& request, PositionSet available) const {
  PositionSet kept(machine_.size());
  int const far = std::max(0, request.place) + machine_.size() / 2;
  for (auto const* p : in_want_) {
    if (!is_kept_for(*p, request)) continue;
    int lacking = lacking_in_want(*p);
    for (int i = 0; i < machine_.size() && lacking > 0; ++i) {
      int const position = (far + i) % machine_.size();
      if (!available.has(position) || !p->allowed.has(position)) continue;
      available.remove(position);
      kept.add(position);
      --lacking;
    }
  }
  return kept;
}

// Other programs in want, for which nothing is kept any more, count like requests behind it.
int Coordinator::in_want_beside(Waiting const& request, PositionSet const& available) const {
  return static_cast<int>(std::count_if(in_want_.begin(), in_want_.end(), [&](auto const* p) {
    return p != request.program && !is_kept_for(*p, request) && lacking_in_want(*p) > 0 &&
           p->allowed.intersects(available);
  }));
}

}  // namespace nigh::coordinator
