// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/seekers.hpp"

#include <algorithm>
#include <cstddef>

#include "policy/stealing/chunk_size.hpp"
#include "policy/stealing/victim_order.hpp"

namespace nigh::sim {

namespace {

constexpr policy::IdlePolicy idle_policy;
constexpr Time pause_ns = 50;  // assumed of any machine
constexpr Time searching_round_ns = idle_policy.pauses_searching * pause_ns;
constexpr Time lingering_ns =
    Time{idle_policy.rounds_lingering} * idle_policy.pauses_lingering * pause_ns;

int first(std::deque<int>& queue) {
  int const i = queue.front();
  queue.pop_front();
  return i;
}

int one_of(std::deque<int>& queue) {
  static_assert(policy::chunk_stolen() == 1);
  return queue.empty() ? -1 : first(queue);
}

}  // namespace

Seekers::Seekers(Machine const& machine, ReplayPolicy const& what,
                 std::vector<int> const& domain_of, std::vector<int> const& cpu_of,
                 std::uint64_t seed)
    : what_(what), random_(seed), workers_(cpu_of.size()) {
  bool const is_one = what.queues == Queues::one;
  int const domains = machine.links.domains();
  homes_.resize(static_cast<std::size_t>(is_one ? 1 : domains));
  for (int w = 0; w < static_cast<int>(workers_.size()); ++w) {
    int const domain = domain_of[static_cast<std::size_t>(w)];
    at(w).home = is_one ? 0 : domain;
    at(w).plan = policy::victim_plan(w, cpu_of, machine.shape);
    home(at(w).home).workers.push_back(w);
    if (std::find(domains_.begin(), domains_.end(), domain) == domains_.end())
      domains_.push_back(domain);
  }
  if (is_one) return;
  for (int d = 0; d < domains; ++d) {
    std::vector<double> hops;
    for (int to = 0; to < domains; ++to) hops.push_back(machine.links.hops(d, to));
    home(d).order = policy::victim_order(d, hops);
  }
}

void Seekers::put(int domain, int piece) {
  home(what_.queues == Queues::one ? 0 : domain).queue.push_back(piece);
}

void Seekers::push(int worker, int piece) { at(worker).stack.push_back(piece); }

Seekers::Found Seekers::look(int worker, Time now) {
  Worker& me = at(worker);
  auto const found = [&](int piece, bool is_from_afar) {
    me.is_idle = me.woken_in_vain = false;
    return Found{piece, is_from_afar};
  };
  if (!me.stack.empty()) {
    int const newest = me.stack.back();
    me.stack.pop_back();
    return found(newest, false);
  }
  if (int const i = find_at_home(me); i >= 0) return found(i, false);
  if (int const i = steal(me); i >= 0) return found(i, true);
  if (now < me.searches_from) return {};
  if (int const i = find_in_rings(me.home); i >= 0) return found(i, true);
  auto const failed_rounds = static_cast<int>(std::min<Time>(
      (now - me.searches_from) / searching_round_ns, idle_policy.rounds_in_own_domain));
  if (what_.queues != Queues::near || !policy::looks_abroad(failed_rounds, idle_policy)) return {};
  if (int const i = find_abroad(me); i >= 0) return found(i, true);
  return {};
}

int Seekers::find_at_home(Worker& me) {
  if (!me.ring.empty()) return first(me.ring);
  auto& mine = home(me.home);
  if (mine.queue.empty()) return -1;
  auto const chunk = policy::chunk_of_own_queue(mine.queue.size(), mine.workers.size());
  int const taken = first(mine.queue);
  while (me.ring.size() + 1 < chunk) me.ring.push_back(first(mine.queue));
  return taken;
}

// The oldest is begun, the others go onto the thief's own stack, the oldest first.
int Seekers::steal(Worker& me) {
  auto const bits = random_.bits();
  for (int attempt = 0; attempt < me.plan.attempts_per_round; ++attempt) {
    auto const v = policy::victim(me.plan, what_.victims, attempt, bits);
    if (v.worker < 0) return -1;
    auto& stack = at(v.worker).stack;
    auto const where = me.plan.levels[static_cast<std::size_t>(v.level)].level;
    auto const chunk = policy::chunk_to_steal(what_.chunks, stack.size(), where, me.plan.topmost);
    if (chunk == 0) continue;
    ++steals_;
    int const oldest = first(stack);
    for (std::size_t i = 1; i < chunk; ++i) me.stack.push_back(first(stack));
    return oldest;
  }
  return -1;
}

int Seekers::find_in_rings(int h) {
  for (int w : home(h).workers)
    if (int const i = one_of(at(w).ring); i >= 0) return i;
  return -1;
}

int Seekers::find_abroad(Worker const& me) {
  for (int h : home(me.home).order) {
    int i = one_of(home(h).queue);
    if (i < 0) i = find_in_rings(h);
    if (i < 0) continue;
    ++taken_abroad_;
    return i;
  }
  return -1;
}

void Seekers::ran_out(int worker, Time now) { at(worker).searches_from = now + lingering_ns; }

Time Seekers::reaches_siblings(int worker) const { return at(worker).searches_from; }

Time Seekers::reaches_abroad(int worker) const {
  int rounds = 0;
  while (!policy::looks_abroad(rounds, idle_policy)) ++rounds;
  return at(worker).searches_from + rounds * searching_round_ns;
}

bool Seekers::is_awake(int worker, Time now) const {
  auto const& w = at(worker);
  auto const idle_us = std::max<Time>(now - w.searches_from, 0) / 1000;
  return !w.is_being_woken &&
         policy::rest(idle_us, w.woken_in_vain, idle_policy) != policy::Rest::sleep;
}

void Seekers::woke(int worker, Time now) {
  at(worker).is_being_woken = false;
  at(worker).woken_in_vain = true;
  at(worker).searches_from = now;
}

bool Seekers::has_searcher(Home const& h, Time now) const {
  return std::any_of(h.workers.begin(), h.workers.end(), [&](int w) {
    return at(w).is_idle && (at(w).is_being_woken || is_awake(w, now));
  });
}

bool Seekers::has_queued(Home const& h) const {
  return !h.queue.empty() || std::any_of(h.workers.begin(), h.workers.end(),
                                         [&](int w) { return !at(w).ring.empty(); });
}

bool Seekers::has_stacked(Home const& h) const {
  return std::any_of(h.workers.begin(), h.workers.end(),
                     [&](int w) { return !at(w).stack.empty(); });
}

// As runtime/parking.hpp has it.
std::vector<int> Seekers::to_wake(Time now) {
  std::vector<int> all;
  auto const wake_one = [&](Home const& there) {
    for (int w : there.workers)
      if (at(w).is_idle && !at(w).is_being_woken && !is_awake(w, now)) {
        at(w).is_being_woken = true;
        all.push_back(w);
        return true;
      }
    return false;
  };
  if (std::none_of(workers_.begin(), workers_.end(), [](Worker const& w) { return w.is_idle; }))
    return all;
  for (Home const& h : homes_) {
    bool const for_all = has_stacked(h) || (has_queued(h) && what_.queues != Queues::strict);
    if ((!for_all && !has_queued(h)) || has_searcher(h, now) || wake_one(h) || !for_all) continue;
    for (int other : h.order)
      if (wake_one(home(other))) break;
  }
  return all;
}

std::string Seekers::state(int worker, Time now) const {
  auto const& w = at(worker);
  std::string const does = !w.is_idle              ? "running"
                           : w.is_being_woken      ? "being woken"
                           : is_awake(worker, now) ? "searching"
                                                   : "asleep";
  return does + ", " + std::to_string(w.stack.size()) + " pieces on its stack, " +
         std::to_string(w.ring.size()) + " of its chunk";
}

}  // namespace nigh::sim
