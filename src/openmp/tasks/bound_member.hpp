// SPDX-License-Identifier: Apache-2.0
#pragma once
// A call binds to a region of the runtime that its library uses. Within a region of another runtime
// each thread is a team of one for that library. If its tasks were taken for the other region's,
// they would see numbers of that team's threads, and locks and reductions use such numbers.

#include "openmp/tasks/real.hpp"
#include "openmp/tasks/team.hpp"

namespace nigh::openmp::tasks {

// This thread's part of the region if that is one of ours, and of the runtime that holds `real`.
NIGH_HIDDEN Member* member_bound_to(void const* real) noexcept;

// `usual`: gomp_member or kmpc_member. Null: the call is passed on.
inline Member* bound_member(Member* usual, Real& of, void const* caller) noexcept {
  if (usual != nullptr || member == nullptr) [[likely]]
    return usual;
  return member_bound_to(of.find(caller));
}
// In the function that stands before NAME.
#define NIGH_GOMP_MEMBER(name) bound_member(gomp_member, real_##name, __builtin_return_address(0))
// The same for a function of libomp's, as NIGH_PASS_ON_FROM().
#define NIGH_KMPC_MEMBER(where, name) \
  bound_member(kmpc_member, real_##name, (where) != nullptr ? (where) : __builtin_return_address(0))

// Around a function of the runtime's that is a barrier. `me` may be null.
class AroundRealBarrier {
 public:
  explicit AroundRealBarrier(Member* me) noexcept : me_(me) {
    if (me_ != nullptr) barrier_before_real(*me_);
  }
  ~AroundRealBarrier() {
    if (me_ != nullptr && (me_->is_elsewhere || me_->owes_call)) come_from_real(*me_);
  }
  AroundRealBarrier(AroundRealBarrier&&) = delete;
  AroundRealBarrier& operator=(AroundRealBarrier&&) = delete;

 private:
  Member* me_;
};

}  // namespace nigh::openmp::tasks
