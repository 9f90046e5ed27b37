// SPDX-License-Identifier: Apache-2.0
#pragma once
// A last call before a signal ends this program, as ^C does. Preloaded libraries have it, too.

#include <pthread.h>

namespace nigh::platform {

using CreateThread = int(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);

// When SIGINT, SIGTERM or SIGHUP comes, and its action was the default at this call, a thread of
// our own calls last() while the others go on, and then the signal ends the program. A second
// one of its kind ends it at once. A program that sets an action of its own for a signal has that
// instead. Once for a process; children of fork() end at once. `create` makes the thread.
void before_ending_signals(void (*last)(), CreateThread* create = ::pthread_create) noexcept;

}  // namespace nigh::platform
