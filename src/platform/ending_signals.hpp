// SPDX-License-Identifier: Apache-2.0
#pragma once
// Signals that end a program: a last call before one does, as ^C; and one that shall not. Preloaded
// libraries have this, too.

#include <pthread.h>

namespace nigh::platform {

using CreateThread = int(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);

// When SIGINT, SIGTERM or SIGHUP comes, and its action was the default at this call, a thread of
// our own calls last(), and then the signal ends the program. Meanwhile the other threads go on,
// except one that has sent the signal to itself. Another signal half a second later or more ends
// the program at once. A program that sets an action of its own for a signal has that instead. Once
// for a process; children of fork() end at once. `create` makes the thread.
void before_ending_signals(void (*last)(), CreateThread* create = ::pthread_create) noexcept;

// A write to a pipe or socket that nobody reads fails from now on, and does not end the program;
// unless the program has an action of its own for SIGPIPE.
void ignore_broken_pipes() noexcept;

}  // namespace nigh::platform
