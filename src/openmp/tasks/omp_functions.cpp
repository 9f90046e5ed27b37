// SPDX-License-Identifier: Apache-2.0
// OpenMP's own functions that ask about tasks, or end them, as programs of both runtimes call them.
// Those with `_` are Fortran's.

#include <cstdint>

#include "openmp/tasks/bound_member.hpp"
#include "openmp/tasks/real.hpp"
#include "openmp/tasks/team.hpp"

using namespace nigh::openmp::tasks;

namespace {

// Null: the event is the runtime's.
Task* task_of_any_event(void* event) noexcept {
  return event != nullptr ? task_of_event(event) : nullptr;
}

Member const* member_of(void const* real) noexcept {
  return member == nullptr ? nullptr : member_bound_to(real);
}

}  // namespace

NIGH_REAL(omp_fulfill_event)
NIGH_INTERPOSED void omp_fulfill_event(void* event) {
  Task* const t = task_of_any_event(event);
  if (t == nullptr) return NIGH_PASS_ON(omp_fulfill_event, event);
  fulfill(*t);
}
// The handle's value, and not its address: omp_lib says so.
NIGH_REAL(omp_fulfill_event_)
NIGH_INTERPOSED void omp_fulfill_event_(void* event) {
  Task* const t = task_of_any_event(event);
  if (t == nullptr) return NIGH_PASS_ON(omp_fulfill_event_, event);
  fulfill(*t);
}
// Of libomp, and newer ones of libgomp.
NIGH_REAL(omp_in_explicit_task)
NIGH_INTERPOSED int omp_in_explicit_task() {
  auto* const real = NIGH_REAL_FROM(omp_in_explicit_task, __builtin_return_address(0));
  Member const* const me = member_of(reinterpret_cast<void const*>(real));
  if (me == nullptr) return real();
  return me->current->is(flag::implicit) ? 0 : 1;
}
NIGH_REAL(omp_in_explicit_task_)
NIGH_INTERPOSED std::int32_t omp_in_explicit_task_() {
  auto* const real = NIGH_REAL_FROM(omp_in_explicit_task_, __builtin_return_address(0));
  Member const* const me = member_of(reinterpret_cast<void const*>(real));
  if (me == nullptr) return real();
  return me->current->is(flag::implicit) ? 0 : 1;
}
NIGH_REAL(omp_in_final)
NIGH_INTERPOSED int omp_in_final() {
  auto* const real = NIGH_REAL_FROM(omp_in_final, __builtin_return_address(0));
  Member const* const me = member_of(reinterpret_cast<void const*>(real));
  if (me == nullptr) return real();
  return me->current->is(flag::final) ? 1 : 0;
}
NIGH_REAL(omp_in_final_)
NIGH_INTERPOSED std::int32_t omp_in_final_() {
  auto* const real = NIGH_REAL_FROM(omp_in_final_, __builtin_return_address(0));
  Member const* const me = member_of(reinterpret_cast<void const*>(real));
  if (me == nullptr) return real();
  return me->current->is(flag::final) ? 1 : 0;
}
