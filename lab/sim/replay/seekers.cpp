// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/seekers.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "policy/stealing/chunk_size.hpp"
#include "policy/stealing/idle.hpp"
#include "policy/stealing/steal_order.hpp"

namespace nigh::sim {

namespace {

using policy::search_order;
using policy::SearchPhase;
using policy::Source;

constexpr policy::IdlePolicy idle_policy;
constexpr Time pause_ns = 50;  // assumed of any machine
constexpr Time searching_round_ns = idle_policy.pauses_searching * pause_ns;
constexpr int lingering_looks = idle_policy.rounds_lingering * idle_policy.pauses_lingering;
constexpr Time lingering_ns = lingering_looks * pause_ns;
constexpr int most_rounds = 1000;  // after as many a worker has long looked everywhere

// A worker of the replay waits for nothing but work, has stack enough, and keeps its cpu.
constexpr auto permitted =
    policy::permissions(policy::ThreadKind::worker, policy::WaitingFor::work, /*stack_low=*/false,
                        /*cpu_revoked=*/false);

// How long after it has run out of pieces a worker looks at a source that its look before left out.
std::vector<Time> const& growing_looks() {
  static auto const all = [] {
    std::vector<Time> times;
    auto before = search_order(SearchPhase::begin, permitted, 0, idle_policy);
    auto const look = [&](Time time, policy::SearchOrder order) {
      bool const grows = std::any_of(order.begin(), order.end(), [&](Source s) {
        return std::find(before.begin(), before.end(), s) == before.end();
      });
      if (grows && (times.empty() || times.back() != time)) times.push_back(time);
      before = order;
    };
    for (int k = 0; k < lingering_looks; ++k)
      look((k + 1) * pause_ns, search_order(SearchPhase::linger, permitted, k, idle_policy));
    for (int round = 0; round < most_rounds; ++round)
      look(lingering_ns + round * searching_round_ns,
           search_order(SearchPhase::search, permitted, round, idle_policy));
    return times;
  }();
  return all;
}

int first(std::deque<int>& queue) {
  int const i = queue.front();
  queue.pop_front();
  return i;
}

int one_of(std::deque<int>& queue) {
  static_assert(policy::chunk_stolen() == 1, "there is no buffer here for more");
  return queue.empty() ? -1 : first(queue);
}

}  // namespace

Seekers::Seekers(policy::WorkerLayout const& layout, LinkGraph const& links,
                 ReplayPolicy const& what, std::uint64_t seed)
    : layout_(layout),
      what_(what),
      random_(seed),
      workers_(static_cast<std::size_t>(layout.workers())) {
  bool const is_one = what.queues == Queues::one;
  groups_.resize(is_one ? 1 : layout.groups().size());
  for (int w = 0; w < layout.workers(); ++w) {
    at(w).number = w;
    at(w).group = is_one ? 0 : layout.group_of(w);
    int const domain = layout.domain_of(w);
    if (std::find(domains_.begin(), domains_.end(), domain) == domains_.end())
      domains_.push_back(domain);
  }
  if (is_one) {
    groups_.front().workers.resize(workers_.size());
    std::iota(groups_.front().workers.begin(), groups_.front().workers.end(), 0);
    return;
  }
  for (int g = 0; g < static_cast<int>(groups_.size()); ++g) {
    std::vector<double> hops;
    for (auto const& other : layout.groups())
      hops.push_back(links.hops(layout.group(g).domain, other.domain));
    group(g) = {{}, layout.group(g).workers, policy::victim_order(g, hops), layout.reach(g)};
  }
}

void Seekers::put(int domain, int piece) {
  int const g = what_.queues == Queues::one ? 0 : layout_.groups_of_domain(domain).front();
  group(g).queue.push_back(piece);
}

void Seekers::push(int worker, int piece) { at(worker).stack.push_back(piece); }

Seekers::Found Seekers::look(int worker, Time now) {
  Worker& me = at(worker);
  Found found;
  if (!me.stack.empty()) {
    found.piece = me.stack.back();
    me.stack.pop_back();
  } else {
    for (Source const source : order_at(me, now)) {
      found = look_at(source, me);
      if (found.piece >= 0) break;
    }
  }
  if (found.piece >= 0) {
    if (me.is_idle) me.waits.ended_after(std::max<Time>(now - me.ran_out, 0) / 1000, idle_policy);
    me.is_idle = false;
    me.waits.runs_task();
  }
  return found;
}

// The list of the look that the worker makes at this time, or has made last.
policy::SearchOrder Seekers::order_at(Worker const& me, Time now) {
  if (now >= me.searches_from) {
    auto const rounds = std::min<Time>((now - me.searches_from) / searching_round_ns, most_rounds);
    return search_order(SearchPhase::search, permitted, static_cast<int>(rounds), idle_policy);
  }
  auto const pauses = static_cast<int>((now + lingering_ns - me.searches_from) / pause_ns);
  if (pauses == 0) return search_order(SearchPhase::begin, permitted, 0, idle_policy);
  return search_order(SearchPhase::linger, permitted, pauses - 1, idle_policy);
}

Seekers::Found Seekers::look_at(Source source, Worker& me) {
  switch (source) {
    case Source::own_queue:
      return {find_queued_at_home(me), false};
    case Source::stacks:
      return {ask_all_stacks(me), true};
    case Source::sibling_buffers:
      return {find_in_buffers(me.group), true};
    case Source::other_queues:
      return {find_in_other_groups(me.group), true};
    case Source::mailbox:
    case Source::joined_thief:
    case Source::own_shared:
    case Source::imported:
      break;
  }
  return {};
}

int Seekers::find_queued_at_home(Worker& me) {
  if (!me.buffer.empty()) return first(me.buffer);
  auto& mine = group(me.group);
  if (mine.queue.empty()) return -1;
  auto const chunk = policy::chunk_of_own_queue(mine.queue.size(), mine.workers.size());
  int const taken = first(mine.queue);
  while (me.buffer.size() + 1 < chunk) me.buffer.push_back(first(mine.queue));
  return taken;
}

// The oldest is begun, the others go onto the thief's own stack, the oldest first.
int Seekers::ask_all_stacks(Worker& me) {
  auto const& plan = layout_.victims_of(me.number);
  auto const bits = random_.bits();
  for (int attempt = 0; attempt < plan.attempts_per_round; ++attempt) {
    auto const v = policy::victim(plan, what_.victims, attempt, bits);
    auto& stack = at(v.worker).stack;
    auto const where = plan.levels[static_cast<std::size_t>(v.level)].level;
    auto const chunk = policy::chunk_to_steal(what_.chunks, stack.size(), where, plan.topmost);
    if (chunk == 0) continue;
    ++steals_;
    int const oldest = first(stack);
    for (std::size_t i = 1; i < chunk; ++i) me.stack.push_back(first(stack));
    return oldest;
  }
  return -1;
}

int Seekers::find_in_buffers(int of_group) {
  for (int w : group(of_group).workers)
    if (int const i = one_of(at(w).buffer); i >= 0) return i;
  return -1;
}

int Seekers::find_in_other_groups(int of_group) {
  auto const& me = group(of_group);
  for (int nth = 0; nth < me.reach; ++nth) {
    int const g = me.others[static_cast<std::size_t>(nth)];
    int i = one_of(group(g).queue);
    if (i < 0) i = find_in_buffers(g);
    if (i < 0) continue;
    ++taken_abroad_;
    return i;
  }
  return -1;
}

void Seekers::ran_out(int worker, Time now) {
  at(worker).ran_out = now;
  at(worker).searches_from = now + lingering_ns;
}

std::vector<Time> Seekers::farther_looks(int worker, Time now) const {
  std::vector<Time> times;
  for (Time const after : growing_looks())
    if (Time const time = at(worker).searches_from + after - lingering_ns; time > now)
      times.push_back(time);
  return times;
}

bool Seekers::is_awake(int worker, Time now) const {
  auto const& w = at(worker);
  auto const idle_us = std::max<Time>(now - w.searches_from, 0) / 1000;
  return !w.is_being_woken &&
         policy::rest(idle_us, w.waits.patience(false), idle_policy) != policy::Rest::sleep;
}

void Seekers::woke(int worker, Time now) {
  at(worker).is_being_woken = false;
  at(worker).waits.woken();
  at(worker).searches_from = now;
}

bool Seekers::has_searcher(Group const& g, Time now) const {
  return std::any_of(g.workers.begin(), g.workers.end(), [&](int w) {
    return at(w).is_idle && (at(w).is_being_woken || is_awake(w, now));
  });
}

bool Seekers::has_queued(Group const& g) const {
  return !g.queue.empty() || std::any_of(g.workers.begin(), g.workers.end(),
                                         [&](int w) { return !at(w).buffer.empty(); });
}

bool Seekers::has_stacked(Group const& g) const {
  return std::any_of(g.workers.begin(), g.workers.end(),
                     [&](int w) { return !at(w).stack.empty(); });
}

// As runtime/parking.hpp has it.
std::vector<int> Seekers::to_wake(Time now) {
  std::vector<int> all;
  auto const wake_one = [&](Group const& there) {
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
  for (Group const& g : groups_) {
    bool const for_all = has_stacked(g) || (has_queued(g) && what_.queues != Queues::strict);
    if ((!for_all && !has_queued(g)) || has_searcher(g, now) || wake_one(g) || !for_all) continue;
    for (int other : g.others)
      if (wake_one(group(other))) break;
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
         std::to_string(w.buffer.size()) + " of its chunk";
}

}  // namespace nigh::sim
