// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cpus of the server's thread, as policy/cpus/server_place.hpp says. Used by that thread alone.
//
// If anything else sets its cpus meanwhile (taskset, a cpuset), the thread stays there from then
// on. It leaves a place before it starts a thread or program, which would inherit its cpus; it
// moves to a place when all requests are answered.

#include <vector>

#include "policy/cpus/server_place.hpp"

namespace nigh::coordinator {

class OwnPlace {
 public:
  using Time = policy::ServerPlace::Time;
  using Who = policy::ServerPlace::Who;
  static constexpr int anywhere = policy::ServerPlace::anywhere;

  // `all`: its cpus when it is anywhere. None: it never moves.
  explicit OwnPlace(std::vector<int> all);

  void ask(Who who, int cpu, bool is_late, Time now) {
    place_.ask(who, cpu, is_late, now);
    leave_if_told();
  }
  void hear(Who who) {
    place_.hear(who);
    leave_if_told();
  }
  void look() {
    place_.look();
    leave_if_told();
  }
  void leave() {
    place_.leave();
    leave_if_told();
  }
  void settle(Time now) {
    if (place_.cpu() != cpu_) move(now);
  }

 private:
  void leave_if_told() {
    if (cpu_ != anywhere && place_.cpu() != cpu_) go_back();
  }
  void go_back();
  void move(Time now);

  std::vector<int> all_;
  std::vector<int> at_start_;  // as the system told
  int cpu_ = anywhere;         // its present place
  policy::ServerPlace place_;
};

}  // namespace nigh::coordinator
