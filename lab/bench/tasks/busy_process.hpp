// SPDX-License-Identifier: Apache-2.0
#pragma once
// Somebody else who wants the cpus too.

#include <sys/types.h>

namespace bench {

// A child process with one thread that computes without end while it is let. Ends with ours.
class BusyProcess {
 public:
  BusyProcess();  // stopped; std::runtime_error when it cannot be made
  ~BusyProcess();
  BusyProcess(BusyProcess&&) = delete;
  BusyProcess& operator=(BusyProcess&&) = delete;

  void go_on() const noexcept;
  void stop() const noexcept;

 private:
  pid_t child_;
};

}  // namespace bench
