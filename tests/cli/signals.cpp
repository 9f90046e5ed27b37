// SPDX-License-Identifier: Apache-2.0
// signals: tells each signal it gets, once "ready" has been printed; SIGTERM ends it with 42.

#include <signal.h>
#include <unistd.h>

#include <cstdio>

int main() {
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGTSTP);
  sigdelset(&all, SIGINT);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  std::printf("ready %d\n", getpid());
  std::fflush(stdout);
  for (;;) {
    int got = 0;
    sigwait(&all, &got);
    std::printf("got %d\n", got);
    std::fflush(stdout);
    if (got == SIGTERM) return 42;
  }
}
