// SPDX-License-Identifier: Apache-2.0
#pragma once
// How soon a rank answers whose only worker is in the midst of tasks of a known length; and how
// soon a plain MPI program does that looks for requests after each of its tasks.

#include <cstdint>
#include <vector>

#include "base/clock.hpp"

namespace bench {

using nigh::base::now_ns;

// When a rank's tasks began and ended, one after the other.
class TaskLog {
 public:
  void compute(double us);
  // Of the task that ran at that time; that time, if none did.
  std::int64_t end_of_task_at(std::int64_t time) const;

 private:
  std::vector<std::int64_t> begun_, ended_;
};

// When something happened, one for each request of rank 1 that brought a task.
struct Delays {
  std::vector<double> us;    // since it was asked for
  std::vector<double> late;  // since the end of the task that the victim ran then
};

// On rank 0, of requests of rank 1: until rank 0 had it (none where the two have no clock in
// common), and until rank 1 had the answer. Where they have none every task is taken to be at its
// beginning.
struct BusyVictim {
  Delays noticed, answered;
};
// Collective; between ranks 0 and 1.
BusyVictim busy_victim(double task_us, int answers);
// The same of an MPI program without nigh, of one thread on a cpu of its own.
Delays plain_victim(double task_us, int answers);

// For both.
bool have_one_clock();
std::vector<std::int64_t> from_rank_1(std::vector<std::int64_t> mine);
void add(Delays& to, std::int64_t asked, std::int64_t happened, std::int64_t end_of_task);

}  // namespace bench
