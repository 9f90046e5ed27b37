// SPDX-License-Identifier: Apache-2.0
#pragma once
// A last call before a signal ends this program, as ^C does.

namespace nigh::platform {

// When SIGINT, SIGTERM or SIGHUP comes, and its action was the default at this call, a thread of
// our own calls last() while the others go on, and then the signal ends the program. A second
// one of its kind ends it at once. A program that sets an action of its own for a signal has that
// instead. Once for a process; children of fork() end at once.
void before_ending_signals(void (*last)()) noexcept;

}  // namespace nigh::platform
