// SPDX-License-Identifier: Apache-2.0
#include "bench/tasks/busy_process.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace bench {

BusyProcess::BusyProcess() : child_(fork()) {
  if (child_ < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (child_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    raise(SIGSTOP);
    for (;;) asm volatile("");
  }
  waitpid(child_, nullptr, WUNTRACED);
}

BusyProcess::~BusyProcess() {
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
}

void BusyProcess::go_on() const noexcept { kill(child_, SIGCONT); }

void BusyProcess::stop() const noexcept {
  kill(child_, SIGSTOP);
  waitpid(child_, nullptr, WUNTRACED);
}

}  // namespace bench
