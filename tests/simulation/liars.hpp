// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs that speak to the server themselves: messages that are none, in pieces, of others'
// leases, too many of them; they read nothing, write anything into the page that they share, and
// never give anything back. Or a siege: one user with all connections and requests that it may
// have, each of its programs with its own way not to give cpus back.

#include <deque>
#include <vector>

#include "simulation/host.hpp"

namespace simulation {

class Liars {
 public:
  explicit Liars(Host const& host) : host_(host) {}
  void come();
  void besiege();

 private:
  void run();
  void hold_on();
  bool take_all_messages(int socket, bool gives_back,
                         std::vector<nigh::coordinator::LeaseId>& held);
  bool send(int socket);
  void spoil(nigh::coordinator::LeasePage& page);
  nigh::coordinator::ProgramMessage some_message();
  nigh::coordinator::Register some_program();

  Host const& host_;
  // Of each program of a siege; here, because a fiber's stack is not unwound when its run ends.
  std::deque<std::vector<nigh::coordinator::LeaseId>> held_;
};

}  // namespace simulation
