// SPDX-License-Identifier: Apache-2.0
#pragma once
// For a program that serves others in the background.

#include <filesystem>
#include <functional>
#include <nigh/result.hpp>
#include <string>
#include <vector>

namespace nigh::platform {

// Where this user's services listen: $XDG_RUNTIME_DIR/nigh, or /tmp/nigh-UID where that directory
// is not there, or another user's (root may have a user's environment).
std::filesystem::path private_directory();

// From now on the signals that end programs make this descriptor readable instead.
result<int> ending_signals();
// The one that has come; 0: none.
int arrived_signal(int descriptor) noexcept;

// Those that our parent has closed, so that no file of ours gets their numbers. The first thing to
// do.
void open_missing_standard_descriptors() noexcept;

// From now on a pipe without a reader, and a file that may not grow, are errors like any other, and
// no signals that end this process.
void refuse_without_signals() noexcept;

// Has the system run this process soon after it is woken, though others want its cpu: by time
// slices of a tenth of a millisecond (Linux 6.12 and later) and, where that is allowed, precedence.
// Processes and threads that it starts do not inherit this. A system that does not know or refuses
// a part changes nothing.
void wake_soon() noexcept;

// A process that goes on in the background, as it began.
struct Background {
  int killed_by = 0;    // the signal that killed the one before; 0: it is the first
  int awaited_at = -1;  // a pipe to the process that waits until this one serves
};

// Goes on in the background, without terminal, input and output, in a session of its own. The
// process that started us sees us end with status 0, after note() of the process that goes on, once
// that one has called tell_serving(), or gets an error where it ends before. Call it before there
// are threads.
result<Background> go_to_background(std::function<void(int pid)> const& note);
void tell_serving(Background& background) noexcept;

// The same, with a process in between that makes a new one when this one is killed, and passes on
// signals that ask it to end. A process that ends by itself, or is killed again and again within
// seconds of its start, is not made again. Returns in each new process, with those signals held
// back until ending_signals().
result<Background> go_to_background_and_stay(std::function<void(int pid)> const& note);

// Runs a program that goes to the background, without input, output and files of ours, except
// standard error if it may complain; returns the status with which it does so.
enum class Complains : bool { no, yes };
result<int> start_service(std::filesystem::path const& program,
                          std::vector<std::string> const& arguments, Complains complains);

// True for process 1 of a container and for a child subreaper: a service that this process starts
// becomes its child when it goes to the background.
bool adopts_orphans() noexcept;

}  // namespace nigh::platform
