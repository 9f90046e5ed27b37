// SPDX-License-Identifier: Apache-2.0
#pragma once
// The profiles of programs: lessons of their regions are kept, and known again when a program
// comes. A program is welcomed when its profile has been read, and after half a second in any case:
// of a profile that takes longer to read it hears then.

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
  // It has entered a region. One of a library that it had not loaded when it came, or of which
  // nothing was known then, is looked for.
  void note_region(Connection connection, RegionId region);

  struct Recalled {
    Connection whose = 0;
    std::vector<KnownRegion> regions;
  };
  std::vector<Recalled> take_recalled();
  // When the next program has waited for long enough, and those that have.
  std::optional<Time> due() const;
  std::vector<Connection> take_overdue(Time now);

  // Whether the program has reported anything since it was remembered last.
  bool has_news(Connection connection, Coordinator const& core) const;
  // Soon: it is copied, for the program may be gone by then. False: too much waits already.
  bool remember(Connection connection, Coordinator const& core);

 private:
  static constexpr std::size_t most_looks = 64;
  static constexpr Time recalled_within_us = 500'000;  // it waits for its first region meanwhile

  struct Program {
    KnownProgram known{};
    bool is_recalled = false;          // it is known as well as it can be
    std::set<std::uint32_t> looked{};  // for libraries of these numbers
    std::uint64_t remembered = 0;      // of its reports
  };

  RegionMemory memory_;
  std::map<Connection, Program> programs_;
  std::deque<std::pair<Time, Connection>> waiting_;  // until when; some are welcome by now, or gone
};

}  // namespace nigh::coordinator
