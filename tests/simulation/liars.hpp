// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs that speak to the server themselves: messages that are none, in pieces, of others'
// leases, too many of them; they read nothing, write anything into the page that they share, and
// never give anything back.

#include "simulation/host.hpp"

namespace simulation {

class Liars {
 public:
  explicit Liars(Host const& host) : host_(host) {}
  void come();

 private:
  void run();
  bool send(int socket);
  void spoil(nigh::coordinator::LeasePage& page);
  nigh::coordinator::ProgramMessage some_message();
  nigh::coordinator::Register some_program();

  Host const& host_;
};

}  // namespace simulation
