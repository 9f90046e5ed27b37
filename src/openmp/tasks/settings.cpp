// SPDX-License-Identifier: Apache-2.0
#include "openmp/tasks/settings.hpp"

#include "openmp/tasks/real.hpp"

namespace nigh::openmp::tasks {
namespace {

NIGH_REAL_AS(get_threads, "omp_get_max_threads");
NIGH_REAL_AS(get_dynamic, "omp_get_dynamic");
NIGH_REAL_AS(get_levels, "omp_get_max_active_levels");
NIGH_REAL_AS(get_device, "omp_get_default_device");
NIGH_REAL_AS(get_schedule, "omp_get_schedule");
NIGH_REAL_AS(set_threads, "omp_set_num_threads");
NIGH_REAL_AS(set_dynamic, "omp_set_dynamic");
NIGH_REAL_AS(set_levels, "omp_set_max_active_levels");
NIGH_REAL_AS(set_device, "omp_set_default_device");
NIGH_REAL_AS(set_schedule, "omp_set_schedule");

template <class Function>
Function* real(Real& of) noexcept {
  return reinterpret_cast<Function*>(of.find(nullptr));
}

Settings settings_now() noexcept {
  Settings s;
  s.threads = real<int()>(get_threads)();
  s.dynamic = real<int()>(get_dynamic)();
  s.levels = real<int()>(get_levels)();
  s.device = real<int()>(get_device)();
  real<void(int*, int*)>(get_schedule)(&s.kind, &s.chunk);
  return s;
}

void set(Settings const& s) noexcept {
  Settings const now = settings_now();
  if (s.threads != now.threads) real<void(int)>(set_threads)(s.threads);
  if (s.dynamic != now.dynamic) real<void(int)>(set_dynamic)(s.dynamic);
  if (s.levels != now.levels) real<void(int)>(set_levels)(s.levels);
  if (s.device != now.device) real<void(int)>(set_device)(s.device);
  if (s.kind != now.kind || s.chunk != now.chunk)
    real<void(int, int)>(set_schedule)(s.kind, s.chunk);
}

}  // namespace

void before_setting() noexcept {
  Member* const me = member;
  if (me == nullptr || me->current->is(flag::settings)) return;
  extra_of(*me, *me->current)->before = settings_now();
  me->current->flags |= flag::settings;
}

void after_setting() noexcept {
  Member* const me = member;
  if (me != nullptr && me->current->is(flag::settings)) me->current->extra->own = settings_now();
}

void inherit_settings(Member& me, Task& t) noexcept {
  extra_of(me, t)->own = me.current->extra->own;
  t.flags |= flag::settings;
}

void begin_settings(Task& t) noexcept {
  t.extra->before = settings_now();
  set(t.extra->own);
}

void end_settings(Task& t) noexcept { set(t.extra->before); }

void run_with_settings(Member& me, Task& t) noexcept {
  if (t.is(flag::settings)) {
    begin_settings(t);
    return run_plainly(me, t);
  }
  Settings const now = settings_now();
  set(me.current->extra->before);
  run_plainly(me, t);
  set(now);
}

void call_by_settings_before(Member& me, std::uint32_t tasks) noexcept {
  Team& team = *me.team;
  if (!me.current->is(flag::settings)) return team.call(team, tasks);
  Settings const now = settings_now();
  set(me.current->extra->before);
  team.call(team, tasks);
  set(now);
}

}  // namespace nigh::openmp::tasks

using nigh::openmp::tasks::after_setting;
using nigh::openmp::tasks::before_setting;

// The library for regions stands before omp_set_num_threads() and others, and calls these two.
// Those of Fortran get addresses, of 4 bytes and of 8.
#define NIGH_SETTING(name, parameters, ...) \
  NIGH_REAL(name)                           \
  NIGH_INTERPOSED void name parameters {    \
    before_setting();                       \
    NIGH_PASS_ON(name, __VA_ARGS__);        \
    after_setting();                        \
  }
NIGH_SETTING(omp_set_default_device, (int device), device)
NIGH_SETTING(omp_set_default_device_, (std::int32_t* device), device)
NIGH_SETTING(omp_set_default_device_8_, (std::int64_t* device), device)
NIGH_SETTING(omp_set_schedule, (int kind, int chunk), kind, chunk)
NIGH_SETTING(omp_set_schedule_, (std::int32_t* kind, std::int32_t* chunk), kind, chunk)
NIGH_SETTING(omp_set_schedule_8_, (std::int32_t* kind, std::int64_t* chunk), kind, chunk)
