// SPDX-License-Identifier: Apache-2.0
// Requests that do not wait for ever, and the programs that got no cpus in time.
#include <algorithm>
#include <iterator>
#include <utility>

#include "coordinator/core/coordinator.hpp"

namespace nigh::coordinator {

using policy::PositionSet;

void Coordinator::line_up(Waiting request) {
  Program& owner = program(request.owner);
  bool const is_expected = request.until && is_in_want(owner) && now_ < owner.kept_until;
  request.place_since = is_expected ? owner.want_since : now_;
  owner.want_until = 0;  // it waits, which is more
  if (owner.returning > 0) --owner.returning;
  auto const in_front_of_it = [&](Waiting const& w) {
    return !w.until || w.place_since <= request.place_since;
  };
  auto place = queue_.end();
  while (place != queue_.begin() && !in_front_of_it(*std::prev(place))) --place;
  if (place == queue_.begin()) first_since_ = now_;
  queue_.insert(place, std::move(request));
}

// Gives cpus back because others wait, and will ask again at its next region. It competes
// meanwhile: otherwise the last in line would have its part as well, and it would wait for that in
// turn.
void Coordinator::expect_again(Program& owner) {
  owner.returning = (is_returning(owner) ? owner.returning : 0) + 1;
  owner.returning_until = returning_until_ = now_ + options_.return_us;
}

bool Coordinator::anybody_returns() const {
  return now_ < returning_until_ && std::any_of(
                                        programs_.begin(), programs_.end(),
                                        [this](auto const& p) { return is_returning(p.second); });
}

// Cpus that the last in line leaves to those who are expected again.
int Coordinator::expected_beside(Program const& owner) const {
  if (now_ >= returning_until_) return 0;
  int cpus = is_returning(owner) ? owner.returning * attainable(owner) : 0;
  for (auto const& [connection, p] : programs_)
    if (&p != &owner && is_returning(p))
      cpus += std::max(0, std::min(p.allowed_cpus, equal_part()) - p.held);
  return cpus;
}

void Coordinator::run_unplaced(Waiting const& request, int want_cpus) {
  auto& owner = program(request.owner);
  owner.waited += now_ - request.since;
  ++owner.unplaced;
  ++unplaced_;
  --owner.open;
  owner.want_until = now_ + options_.want_us;
  owner.kept_until = now_ + std::min(options_.keep_us, options_.want_us);
  owner.want_since = now_;
  owner.want_cpus = want_cpus;
  want_until_ = std::max(want_until_, owner.want_until);
  send(request.owner, Unplaced{request.ticket});
}

// Those who have waited for as long as they would. After serve(), so that what has just come back
// is theirs; and before another one, for others stood behind them. A program that its quota keeps
// outside wants no cpus of the host: its cgroup's programs make room for it.
void Coordinator::give_up() {
  auto const has_ended = [this](Waiting const& w) { return w.until && *w.until <= now_; };
  for (bool anybody = true; anybody;) {
    anybody = false;
    for (std::size_t i = 0; i < queue_.size();) {
      if (!has_ended(queue_[i])) {
        ++i;
        continue;
      }
      anybody = true;
      run_unplaced(queue_[i], queue_[i].demand.optimal);
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
      if (i == 0) first_since_ = now_;
    }
    // Its program is in want from now on, so the parts of those in the queue are smaller.
    auto const ended_outside = std::erase_if(outside_, [&](Waiting const& w) {
      if (!has_ended(w)) return false;
      run_unplaced(w, 0);
      return true;
    });
    anybody |= ended_outside > 0;
    if (!anybody) return;
    end_overdue();  // for those who are admitted now, too
    serve();
  }
}

void Coordinator::set_slice() {
  bool const is_in_a_hurry =
      anybody_in_want() || std::any_of(queue_.begin(), queue_.end(),
                                       [](Waiting const& w) { return w.until.has_value(); });
  slice_ = is_in_a_hurry ? policy::turn_us(competing(), {options_.slice_us, options_.round_us,
                                                         options_.shortest_slice_us})
                         : options_.slice_us;
}

// What a program in want would have if cpus were equally many for all.
int Coordinator::lacking_in_want(Program const& program) const {
  if (!is_in_want(program)) return 0;
  return std::max(0,
                  std::min({equal_part(), program.want_cpus, program.allowed_cpus}) - program.held);
}

int Coordinator::lacking_in_want() const {
  int lacking = 0;
  if (anybody_in_want())
    for (auto const& [connection, p] : programs_) lacking += lacking_in_want(p);
  return lacking;
}

PositionSet Coordinator::wanted_by_the_patient() const {
  PositionSet wanted(machine_.size());
  for (Waiting const& w : queue_)
    if (!w.until) wanted |= program(w.owner).allowed;
  return wanted;
}

// Who waits for ever is kept nothing from: it has been promised a bound.
bool Coordinator::is_anything_kept_from(Waiting const& request) const {
  if (!request.until || !anybody_in_want()) return false;
  return std::any_of(programs_.begin(), programs_.end(), [&](auto const& p) {
    return p.first != request.owner && is_in_want(p.second) && now_ < p.second.kept_until;
  });
}

// Of the cpus that are there for a request, those that others who have just come into want are to
// find: not those near to where it runs.
PositionSet Coordinator::kept_from(Waiting const& request, PositionSet available) const {
  PositionSet kept(machine_.size());
  int const far = std::max(0, request.place) + machine_.size() / 2;
  for (auto const& [connection, p] : programs_) {
    if (connection == request.owner || now_ >= p.kept_until) continue;
    int lacking = lacking_in_want(p);
    for (int i = 0; i < machine_.size() && lacking > 0; ++i) {
      int const position = (far + i) % machine_.size();
      if (!available.has(position) || !p.allowed.has(position)) continue;
      available.remove(position);
      kept.add(position);
      --lacking;
    }
  }
  return kept;
}

// Others in want that nothing is kept for any more: they count like those who wait behind it.
int Coordinator::in_want_beside(Waiting const& request, PositionSet const& available) const {
  if (!anybody_in_want()) return 0;
  return static_cast<int>(std::count_if(programs_.begin(), programs_.end(), [&](auto const& p) {
    bool const is_kept_for = request.until && now_ < p.second.kept_until;
    return p.first != request.owner && !is_kept_for && lacking_in_want(p.second) > 0 &&
           p.second.allowed.intersects(available);
  }));
}

}  // namespace nigh::coordinator
