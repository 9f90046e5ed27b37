// SPDX-License-Identifier: Apache-2.0
#pragma once
// The profiles of programs: lessons of their regions are kept, and known again when a program comes
// back. A program is welcomed when its profile has been read, or after a tenth of a second: it then
// gets a slower profile later.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "coordinator/core/coordinator.hpp"
#include "coordinator/server/region_memory.hpp"

namespace nigh::coordinator {

class ProgramProfiles {
 public:
  ProgramProfiles(Keeper keeper, policy::UserLimit pending) : memory_(std::move(keeper), pending) {}

  // Readable when there are new recollections.
  int descriptor() const noexcept { return memory_.descriptor(); }

  // True: its profile is being read.
  bool come(Connection connection, KnownProgram program, Time now);
  void leave(Connection connection) { programs_.erase(connection); }
  // It has entered a region. If the region is of a library that was not loaded when the program
  // came, or about which nothing was known then, this looks for the library's profile.
  void note_region(Connection connection, RegionId region);

  struct Recalled {
    Connection whose = 0;
    std::vector<KnownRegion> regions;
  };
  std::vector<Recalled> take_recalled();
  // When the next program has waited long enough, and the programs that have.
  std::optional<Time> due() const;
  std::vector<Connection> take_overdue(Time now);

  // Whether the program has reported anything since its profile was last stored.
  bool has_news(Connection connection, Coordinator const& core) const;
  // Stores its profile soon: a copy, for the program may be gone by then. False: too much waits
  // already.
  bool remember(Connection connection, Coordinator const& core);

 private:
  static constexpr std::size_t most_looks = 64;
  static constexpr Time recalled_within_us = 100'000;  // meanwhile its first region waits

  struct Program {
    KnownProgram known{};
    bool is_recalled = false;          // all that is known of it has been read
    std::set<std::uint32_t> looked{};  // libraries, by number, that have been looked for
    std::uint64_t remembered = 0;      // how many of its reports are stored
  };

  RegionMemory memory_;
  std::map<Connection, Program> programs_;
  std::deque<std::pair<Time, Connection>> waiting_;  // until when; some are welcome by now, or gone
};

}  // namespace nigh::coordinator
