// SPDX-License-Identifier: Apache-2.0
// A nestable lock belongs to the task that has set it. libgomp writes down which task of its own
// that is, and takes all of ours on one thread for the thread's implicit task; so we write down
// ours. Locks of libomp belong to threads.

#include <cstdint>

#include "openmp/tasks/real.hpp"
#include "openmp/tasks/team.hpp"

namespace nigh::openmp::tasks {
namespace {

// The programs' omp_nest_lock_t, as libgomp uses it.
struct NestLock {
  std::int32_t lock, count;
  void* owner;
};

bool is_libgomps(Member const* me) noexcept { return me != nullptr && me->team->is_libgomp; }

// Set by this very task before.
bool set_again(Member const& me, NestLock& lock) noexcept {
  if (__atomic_load_n(&lock.owner, __ATOMIC_RELAXED) != me.current) return false;
  ++lock.count;
  return true;
}

template <class Real>
void set_for_task(NestLock& lock, Real real) {
  Member const* const me = member;
  if (is_libgomps(me) && set_again(*me, lock)) return;
  real();
  if (is_libgomps(me)) __atomic_store_n(&lock.owner, me->current, __ATOMIC_RELAXED);
}

template <class Real>
int test_for_task(NestLock& lock, Real real) {
  Member const* const me = member;
  if (is_libgomps(me) && set_again(*me, lock)) return lock.count;
  int const count = real();
  if (is_libgomps(me) && count != 0) __atomic_store_n(&lock.owner, me->current, __ATOMIC_RELAXED);
  return count;
}

}  // namespace
}  // namespace nigh::openmp::tasks

using namespace nigh::openmp::tasks;

NIGH_REAL(omp_set_nest_lock)
NIGH_INTERPOSED void omp_set_nest_lock(NestLock* lock) {
  void const* const caller = __builtin_return_address(0);
  set_for_task(*lock, [=] { NIGH_REAL_FROM(omp_set_nest_lock, caller)(lock); });
}
NIGH_REAL(omp_test_nest_lock)
NIGH_INTERPOSED int omp_test_nest_lock(NestLock* lock) {
  void const* const caller = __builtin_return_address(0);
  return test_for_task(*lock, [=] { return NIGH_REAL_FROM(omp_test_nest_lock, caller)(lock); });
}

// Fortran's: omp_nest_lock_kind has room for a pointer to the lock.
NIGH_REAL(omp_set_nest_lock_)
NIGH_INTERPOSED void omp_set_nest_lock_(NestLock** lock) {
  void const* const caller = __builtin_return_address(0);
  set_for_task(**lock, [=] { NIGH_REAL_FROM(omp_set_nest_lock_, caller)(lock); });
}
NIGH_REAL(omp_test_nest_lock_)
NIGH_INTERPOSED std::int32_t omp_test_nest_lock_(NestLock** lock) {
  void const* const caller = __builtin_return_address(0);
  return test_for_task(**lock, [=] { return NIGH_REAL_FROM(omp_test_nest_lock_, caller)(lock); });
}
