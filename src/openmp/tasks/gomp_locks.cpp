// SPDX-License-Identifier: Apache-2.0
// A nestable lock belongs to the task that has set it. libgomp writes down which task of its own
// that is, and takes all of ours on one thread for the thread's implicit task; so we write down
// ours. Locks of libomp belong to threads.

#include <cstdint>

#include "openmp/tasks/bound_member.hpp"
#include "openmp/tasks/real.hpp"
#include "openmp/tasks/team.hpp"

namespace nigh::openmp::tasks {
namespace {

// The programs' omp_nest_lock_t, as libgomp uses it.
struct NestLock {
  std::int32_t lock, count;
  void* owner;
};

// This thread's part of the region, if its tasks own locks of the runtime that `real` is of.
Member const* owner(void const* real) noexcept {
  return member != nullptr && member->team->is_libgomp ? member_bound_to(real) : nullptr;
}

// Set by this very task before.
bool set_again(Member const& me, NestLock& lock) noexcept {
  if (__atomic_load_n(&lock.owner, __ATOMIC_RELAXED) != me.current) return false;
  ++lock.count;
  return true;
}

void take(Member const& me, NestLock& lock) noexcept {
  __atomic_store_n(&lock.owner, me.current, __ATOMIC_RELAXED);
}

template <class Real, class Argument>
void set_for_task(NestLock& lock, Real* real, Argument argument) {
  Member const* const me = owner(reinterpret_cast<void const*>(real));
  if (me != nullptr && set_again(*me, lock)) return;
  real(argument);
  if (me != nullptr) take(*me, lock);
}

template <class Real, class Argument>
int test_for_task(NestLock& lock, Real* real, Argument argument) {
  Member const* const me = owner(reinterpret_cast<void const*>(real));
  if (me != nullptr && set_again(*me, lock)) return lock.count;
  int const count = real(argument);
  if (me != nullptr && count != 0) take(*me, lock);
  return count;
}

}  // namespace
}  // namespace nigh::openmp::tasks

using namespace nigh::openmp::tasks;

NIGH_REAL(omp_set_nest_lock)
NIGH_INTERPOSED void omp_set_nest_lock(NestLock* lock) {
  set_for_task(*lock, NIGH_REAL_FROM(omp_set_nest_lock, __builtin_return_address(0)), lock);
}
NIGH_REAL(omp_test_nest_lock)
NIGH_INTERPOSED int omp_test_nest_lock(NestLock* lock) {
  return test_for_task(*lock, NIGH_REAL_FROM(omp_test_nest_lock, __builtin_return_address(0)),
                       lock);
}

// Fortran's: omp_nest_lock_kind has room for a pointer to the lock.
NIGH_REAL(omp_set_nest_lock_)
NIGH_INTERPOSED void omp_set_nest_lock_(NestLock** lock) {
  set_for_task(**lock, NIGH_REAL_FROM(omp_set_nest_lock_, __builtin_return_address(0)), lock);
}
NIGH_REAL(omp_test_nest_lock_)
NIGH_INTERPOSED std::int32_t omp_test_nest_lock_(NestLock** lock) {
  return test_for_task(**lock, NIGH_REAL_FROM(omp_test_nest_lock_, __builtin_return_address(0)),
                       lock);
}
