// SPDX-License-Identifier: Apache-2.0
#include "openmp/tasks/near_data.hpp"

#include <stdlib.h>

#include <new>
#include <string_view>

namespace nigh::openmp::tasks {
namespace {

constinit bool is_strict = false;
constinit bool by_depend = false;

NearQueues* queues_of(Team& team) noexcept {
  return team.near.get_or(
      []() noexcept -> NearQueues* {
        void* const room = malloc(sizeof(NearQueues));
        return room == nullptr ? nullptr : new (room) NearQueues;
      },
      [](NearQueues* made) noexcept { free(made); });
}

// No member is there, nor will be.
bool is_deserted(Member const& me, std::uint32_t domain) noexcept {
  return me.team->domains.is_deserted(domain, me.size);
}

bool may_take_from(Member const& me, std::uint32_t domain, bool is_last_resort) noexcept {
  return !is_strict || (me.tied != nullptr && is_last_resort) || is_deserted(me, domain);
}

}  // namespace

void begin_near_data() noexcept {
  char const* const text = getenv("NIGH_TASKS");
  if (text == nullptr) return;
  for (std::string_view rest = text; !rest.empty();) {
    auto const comma = rest.find(',');
    auto const word = rest.substr(0, comma);
    if (word == "strict") is_strict = true;
    if (word == "data=depend") by_depend = true;
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
  }
}

bool hints_by_depend() noexcept { return by_depend; }

bool tasks_stay_in_domains() noexcept { return is_strict && platform::domains() > 1; }

bool submit_near(Member& me, Task& t) noexcept {
  if (me.size == 1 || platform::domains() == 1) return false;
  int const domain = platform::domain_of(t.extra->near);
  if (domain < 0) return false;
  Team& team = *me.team;
  auto const d = static_cast<std::uint32_t>(domain);
  if (is_deserted(me, d)) return false;
  note_shared(me);
  NearQueues* const queues = queues_of(team);
  if (queues == nullptr || !queues->of[d].put(t)) return false;
  notify_near(me, d, is_strict);
  return true;
}

Task* take_near(Member& me) noexcept {
  NearQueues* const queues = me.team->near.get();
  if (queues == nullptr) return nullptr;
  Task* const t = queues->of[me.domain].take(me.tied);
  if (t != nullptr) ++me.counts.near;
  return t;
}

Task* take_from_afar(Member& me, bool is_last_resort) noexcept {
  NearQueues* const queues = me.team->near.get();
  if (queues == nullptr) return nullptr;
  auto const count = platform::domains();
  for (std::uint32_t k = 1; k < count; ++k) {
    auto const d = (me.domain + k) % count;
    if (!may_take_from(me, d, is_last_resort)) continue;
    if (Task* const t = queues->of[d].take(me.tied); t != nullptr) {
      ++me.counts.far;
      return t;
    }
  }
  return nullptr;
}

bool is_any_near(Member const& me) noexcept {
  NearQueues* const queues = me.team->near.get_before_sleep();
  if (queues == nullptr) return false;
  for (std::uint32_t d = 0; d < platform::domains(); ++d)
    if (queues->of[d].has_any() && (d == me.domain || may_take_from(me, d, false))) return true;
  return false;
}

void end_near_data(Team& team) noexcept { free(team.near.get_alone()); }

void notify_near(Member& me, std::uint32_t domain, bool there_only) noexcept {
  Team& team = *me.team;
  if (team.sleepers.load(sync::seq_cst) == 0) return;  // (sleeper.S)
  for (bool elsewhere : {false, true}) {
    if (elsewhere && there_only) return;
    for (std::uint32_t k = 1; k < me.size; ++k) {
      Member* const m = team.members.at((me.number + k) % me.size);
      if (m == nullptr || (m->domain == domain) == elsewhere) continue;
      if (m->sleeps_within.load(sync::relaxed) == nullptr && m->sleeper.wake()) return;
    }
  }
}

void submit_somewhere(Member& me, Task& t) noexcept {
  if (t.is(flag::extra) && t.extra->near != nullptr && submit_near(me, t)) return;
  submit(me, t);
}

}  // namespace nigh::openmp::tasks
