// SPDX-License-Identifier: Apache-2.0
#pragma once
// Starting a program with settings of our choice: as this process, or as its child.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <nigh/result.hpp>
#include <optional>
#include <string>
#include <vector>

#include "platform/memory_policy.hpp"

namespace nigh::platform {

struct Launch {
  std::vector<std::string> words;      // the program, looked for as a shell does, and its arguments
  std::vector<std::string> variables;  // "NAME=value", added to our environment
  std::vector<std::string> removed;    // names, taken out of it
  std::vector<int> cpus;               // it may run on; empty: where we may
  std::optional<MemoryPolicy> memory;  // empty: ours
  bool strict = false;                 // do not start when the system refuses a part of this
};

// Why a program did not start, and the exit status that env(1) has for it: 127 when there is no
// such program, 126 when it cannot be executed; 125 when strict and the system refused something.
struct NotStarted {
  std::string message;
  int status = 127;
};

using Complain = std::function<void(std::string const&)>;

// Becomes the program; returns when that failed. A setting that the system refuses is complained
// about first, and left as it is.
NotStarted become(Launch const& launch, Complain const& complain);

// In Ending::interrupted: no signal came, the time was up.
inline constexpr int limit_reached = -1;

// How a child ended, and what it used.
struct Ending {
  int status = 0;          // exit status; 128 + n when signal n ended it
  int signal = 0;          // 0: none
  int interrupted = 0;     // why we ended it: a signal to us, or limit_reached
  double seconds = 0;      // from its start to its end, without the time that ^Z stopped it and us
  double cpu_seconds = 0;  // of all its threads and awaited children
  std::optional<NotStarted> not_started = {};
};

// Callbacks around a child. All of them may be left out.
struct Supervision {
  Complain complain = {};
  // Called with its process id, first after `pause`, and each time after the time that it returns.
  std::function<std::chrono::nanoseconds(int pid)> look = {};
  std::chrono::nanoseconds pause = std::chrono::milliseconds(10);
};

// Runs it as our child and waits for its end. Signals sent to us are passed on to it (those of the
// terminal reach it anyway). When it stops (^Z), we stop; it does not outlive us. An error when the
// system has no room for a process.
result<Ending> run_supervised(Launch const& launch, Supervision const& how);

// Runs it as a measurement: without input, its output into a file, in a process group of its own
// that is gone afterwards. A signal that would end us ends it instead, and so does the limit; ^Z
// stops it and us.
result<Ending> run_measured(Launch const& launch, std::filesystem::path const& output,
                            std::optional<std::chrono::nanoseconds> limit);

// While it lives, signals that end programs wait until somebody asks.
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(SignalsHeld&&) = delete;

  static int pending() noexcept;  // takes one; 0: none

 private:
  sigset_t before_{};
};

// Ends this process as signal n would, so that the process that waits for us sees what happened to
// the program.
[[noreturn]] void die_of(int signal);

}  // namespace nigh::platform
