// SPDX-License-Identifier: Apache-2.0
// libgomp's entry points for target regions that may be tasks of its own. A process that has any
// keeps its runtime's tasks (decide.cpp). But a library with some may be opened while a region runs
// whose tasks are ours: then the thread waits for what the target region depends on, and begins it
// without `nowait`, as it may.

#include <cstddef>

#include "openmp/tasks/bound_member.hpp"
#include "openmp/tasks/gomp_depends.hpp"
#include "openmp/tasks/real.hpp"
#include "openmp/tasks/team.hpp"

namespace nigh::openmp::tasks {
namespace {

constexpr unsigned nowait = 1;

void wait_instead(Member& me, unsigned& flags, void**& depend) noexcept {
  if (depend != nullptr) {
    GompDepends const list(depend);
    wait_for(me, list.items(), list.count());
  }
  flags &= ~nowait;
  depend = nullptr;
}

}  // namespace
}  // namespace nigh::openmp::tasks

using namespace nigh::openmp::tasks;

NIGH_REAL(GOMP_target_ext)
NIGH_INTERPOSED void GOMP_target_ext(int device, void (*body)(void*), std::size_t count,
                                     void** addresses, std::size_t* sizes, unsigned short* kinds,
                                     unsigned flags, void** depend, void** arguments) {
  if (Member* const me = NIGH_GOMP_MEMBER(GOMP_target_ext); me != nullptr)
    wait_instead(*me, flags, depend);
  NIGH_PASS_ON(GOMP_target_ext, device, body, count, addresses, sizes, kinds, flags, depend,
               arguments);
}

NIGH_REAL(GOMP_target_update_ext)
NIGH_INTERPOSED void GOMP_target_update_ext(int device, std::size_t count, void** addresses,
                                            std::size_t* sizes, unsigned short* kinds,
                                            unsigned flags, void** depend) {
  if (Member* const me = NIGH_GOMP_MEMBER(GOMP_target_update_ext); me != nullptr)
    wait_instead(*me, flags, depend);
  NIGH_PASS_ON(GOMP_target_update_ext, device, count, addresses, sizes, kinds, flags, depend);
}

NIGH_REAL(GOMP_target_enter_exit_data)
NIGH_INTERPOSED void GOMP_target_enter_exit_data(int device, std::size_t count, void** addresses,
                                                 std::size_t* sizes, unsigned short* kinds,
                                                 unsigned flags, void** depend) {
  if (Member* const me = NIGH_GOMP_MEMBER(GOMP_target_enter_exit_data); me != nullptr)
    wait_instead(*me, flags, depend);
  NIGH_PASS_ON(GOMP_target_enter_exit_data, device, count, addresses, sizes, kinds, flags, depend);
}
