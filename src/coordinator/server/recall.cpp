// SPDX-License-Identifier: Apache-2.0
// What programs' regions have taught is kept, and known again when a program comes.
#include <cstddef>
#include <utility>

#include "coordinator/server/server.hpp"

namespace nigh::coordinator {

void Server::hear_memory() {
  for (auto& [whose, what] : memory_.take_recalled()) {
    if (auto const found = members_.find(whose); found != members_.end()) {
      Member& member = found->second;
      auto& libraries = member.program.libraries;
      if (!std::exchange(member.is_recalled, true))
        member.program = std::move(what.program);
      else
        libraries.insert(libraries.end(), what.program.libraries.begin(),
                         what.program.libraries.end());
      for (auto const& library : libraries) member.looked.insert(library.number);
    }
    if (!what.regions.empty()) happen(Known{whose, std::move(what.regions)});
    send_welcome_if_waiting(whose);
  }
}

// One that the program had not loaded when it came, or of which nothing was known then.
void Server::look_for_library(Connection of, Member& member, RegionId region) {
  constexpr std::size_t most_looks = 64;
  auto const number = library_of(region);
  if (number == 0 || (region & in_no_file) != 0 || !member.is_recalled) return;
  if (member.looked.size() >= most_looks || !member.looked.insert(number).second) return;
  memory_.look(of, member.program, number);
}

// Soon. It is copied, for its program may be gone by then.
void Server::remember(Connection connection, Member& member) {
  auto const reports = core_.reports(connection);
  if (reports == member.remembered) return;
  member.remembered = reports;
  own_place_.leave();  // a thread may begin now
  if (!memory_.remember(member.program, core_.known_regions(connection)))
    warn_once("cannot keep up with what programs teach", member);
}

void Server::remember_all() {
  for (auto& [connection, member] : members_) remember(connection, member);
}

}  // namespace nigh::coordinator
