// SPDX-License-Identifier: Apache-2.0
#include "openmp/thread.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace nigh::openmp {

constinit thread_local Thread this_thread{};

// A refusal is remembered like a success: it would be refused again at every region.
void move(Thread& me, Team const& team, Place to) noexcept {
  if (me.is_left_alone) return;
  me.place = to;
  if (to == anywhere) {
    set_cpus(own_cpus());
    return;
  }
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (to == team.all)
    for (std::uint32_t k = 0; k < team.size; ++k) CPU_SET(team.cpus[k], &cpus);
  else
    CPU_SET(to - 1, &cpus);
  set_cpus(cpus);
}

void set_cpus(cpu_set_t const& cpus) noexcept {
  syscall(SYS_sched_setaffinity, 0, sizeof cpus, &cpus);
}

void set_free(Thread& me) noexcept {
  if (me.place != anywhere) move(me, Team{}, anywhere);
}

}  // namespace nigh::openmp
