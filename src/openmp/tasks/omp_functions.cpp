// SPDX-License-Identifier: Apache-2.0
// OpenMP's own functions that ask about tasks, or end them, as programs of both runtimes call them.
// Those with `_` are Fortran's.

#include <cstdint>

#include "openmp/tasks/real.hpp"
#include "openmp/tasks/team.hpp"

using namespace nigh::openmp::tasks;

namespace {

// Null: the event is the runtime's.
Task* task_of_any_event(void* event) noexcept {
  return event != nullptr ? task_of_event(event) : nullptr;
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
  if (member == nullptr) return NIGH_PASS_ON(omp_in_explicit_task);
  return member->current->is(flag::implicit) ? 0 : 1;
}
NIGH_REAL(omp_in_explicit_task_)
NIGH_INTERPOSED std::int32_t omp_in_explicit_task_() {
  if (member == nullptr) return NIGH_PASS_ON(omp_in_explicit_task_);
  return member->current->is(flag::implicit) ? 0 : 1;
}
NIGH_REAL(omp_in_final)
NIGH_INTERPOSED int omp_in_final() {
  if (member == nullptr) return NIGH_PASS_ON(omp_in_final);
  return member->current->is(flag::final) ? 1 : 0;
}
NIGH_REAL(omp_in_final_)
NIGH_INTERPOSED std::int32_t omp_in_final_() {
  if (member == nullptr) return NIGH_PASS_ON(omp_in_final_);
  return member->current->is(flag::final) ? 1 : 0;
}
