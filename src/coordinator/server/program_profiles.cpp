// SPDX-License-Identifier: Apache-2.0
#include "coordinator/server/program_profiles.hpp"

namespace nigh::coordinator {

bool ProgramProfiles::come(Connection connection, KnownProgram program, Time now) {
  bool const waits = memory_.recall(connection, program);
  programs_[connection] = {.known = std::move(program), .is_recalled = !waits};
  if (waits) waiting_.emplace_back(now + recalled_within_us, connection);
  return waits;
}

std::vector<ProgramProfiles::Recalled> ProgramProfiles::take_recalled() {
  std::vector<Recalled> all;
  for (auto& [whose, what] : memory_.take_recalled()) {
    all.push_back({whose, std::move(what.regions)});
    auto const found = programs_.find(whose);
    if (found == programs_.end()) continue;
    Program& program = found->second;
    auto& libraries = program.known.libraries;
    if (!std::exchange(program.is_recalled, true))
      program.known = std::move(what.program);
    else
      libraries.insert(libraries.end(), what.program.libraries.begin(),
                       what.program.libraries.end());
    for (auto const& library : libraries) program.looked.insert(library.number);
  }
  return all;
}

std::optional<Time> ProgramProfiles::due() const {
  return waiting_.empty() ? std::nullopt : std::optional(waiting_.front().first);
}

std::vector<Connection> ProgramProfiles::take_overdue(Time now) {
  std::vector<Connection> overdue;
  for (; !waiting_.empty() && waiting_.front().first <= now; waiting_.pop_front())
    overdue.push_back(waiting_.front().second);
  return overdue;
}

void ProgramProfiles::note_region(Connection connection, RegionId region) {
  auto const found = programs_.find(connection);
  auto const number = library_of(region);
  if (found == programs_.end() || number == 0 || (region & in_no_file) != 0) return;
  Program& program = found->second;
  if (!program.is_recalled || program.looked.size() >= most_looks) return;
  if (program.looked.insert(number).second) memory_.look(connection, program.known, number);
}

bool ProgramProfiles::has_news(Connection connection, Coordinator const& core) const {
  auto const found = programs_.find(connection);
  return found != programs_.end() && core.reports(connection) != found->second.remembered;
}

bool ProgramProfiles::remember(Connection connection, Coordinator const& core) {
  Program& program = programs_.at(connection);
  program.remembered = core.reports(connection);
  return memory_.remember(program.known, core.known_regions(connection));
}

}  // namespace nigh::coordinator
