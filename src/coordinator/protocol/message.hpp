// SPDX-License-Identifier: Apache-2.0
#pragma once
// The messages of programs and the coordinator.
//
//   program                      coordinator
//     Register  ───────────────▶   may these cpus be shared with others?
//               ◀───────────────  Welcome
//     Request   ───────────────▶   a region begins: so many threads are of use, I am here
//               ◀───────────────  Grant      cpus, leader first: a lease
//               ◀───────────────  Unplaced   no cpu for it within its patience: run on shared cpus
//               ◀───────────────  Revoke     give it back at the next border of a region
//     Release   ───────────────▶
//     Claim     ───────────────▶   the coordinator is new: these I hold from before (Grant)
//     Report    ───────────────▶   a region took so long with so many threads
//     Query     ───────────────▶
//               ◀───────────────  Status
//               ◀───────────────  Advice     a region can use so many threads; try that many
//               ◀───────────────  Refusal    instead of any answer
//
// A region that ends keeps its lease until that is revoked, so entering it again needs no message.
// A program leaves by closing its connection. Each message has one size and one layout of bytes,
// that of its members in layout(); codec.hpp writes and reads them. They and the page that is
// shared (lease_word.hpp) are of one version, and both sides must be: there is nothing older to
// understand.

#include <array>
#include <cstdint>
#include <type_traits>
#include <variant>

#include "coordinator/protocol/cpus.hpp"
#include "coordinator/protocol/name.hpp"
#include "coordinator/protocol/region_id.hpp"

namespace nigh::coordinator {

// 1 had several layouts, while this was being made; with 2, requests waited for as long as it took;
// with 4, a Status did not tell whose process a program is; with 5, it did not tell of tasks.
inline constexpr std::uint16_t protocol_version = 6;

using LeaseId = std::uint64_t;  // 0: none
using Ticket = std::uint32_t;   // names the answer to a program's request

inline constexpr std::uint32_t unknown_place = 0xffffffff;

// No request may ask to wait longer, unless it waits for ever.
inline constexpr std::uint32_t longest_patience_us = 10'000'000;

// Trials of a region with another team are numbered from 1 to this, then from 1 again.
inline constexpr std::uint32_t last_trial = 31;

// How many threads a region can use. Both 0: the program does not know. Only the optimum 0: it does
// not know that, but will not have more than the maximum.
struct Demand {
  std::uint32_t maximum = 0;
  std::uint32_t optimal = 0;

  constexpr bool is_known() const noexcept { return optimal > 0; }
  constexpr bool is_valid() const noexcept { return optimal <= maximum && maximum <= max_cpus; }
  bool operator==(Demand const&) const = default;

  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.maximum);
    wire(m.optimal);
  }
};

// ---- from programs

// For an MPI program: which of its ranks on this host this is.
struct JobRank {
  std::uint64_t job = 0;  // the same for all ranks of one program; 0: no MPI program
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;

  constexpr bool is_valid() const noexcept {
    return job == 0 ? rank == 0 && ranks == 0 : rank < ranks && ranks <= most_ranks;
  }
  bool operator==(JobRank const&) const = default;

  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.job);
    wire(m.rank);
    wire(m.ranks);
  }
  static constexpr std::uint32_t most_ranks = 1 << 16;
};

struct Register {
  static constexpr std::uint16_t kind = 1;
  std::uint32_t pid = 0;  // for people; the connection tells who may do what
  Name name{};
  CpuSet allowed{};
  JobRank rank{};
  // 1: a thread sleeps on this connection, to hear of a Revoke at once; 0: the program looks at its
  // page when regions end.
  std::uint8_t listens = 0;
  std::uint64_t binary = 0;  // the program's identity (platform::own_identity()); 0: unknown

  constexpr bool is_valid() const noexcept {
    return name.is_valid() && !allowed.empty() && rank.is_valid() && listens <= 1;
  }
  bool operator==(Register const&) const = default;
  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.pid);
    wire(m.name);
    wire(m.allowed.words);
    wire(m.rank);
    wire(m.listens);
    wire(m.binary);
  }
};

struct Request {
  static constexpr std::uint16_t kind = 2;
  RegionId region = 0;
  Ticket ticket = 0;  // not one that already waits
  Demand demand{};
  std::uint32_t place = unknown_place;  // cpu that the leader runs at
  LeaseId returned = 0;                 // released by the same message: a lease for another region
  // After so long it prefers to run without cpus of its own; 0: it waits for ever.
  std::uint32_t patience_us = 0;

  constexpr bool is_valid() const noexcept {
    return demand.is_valid() && (place < max_cpus || place == unknown_place) &&
           patience_us <= longest_patience_us;
  }
  bool operator==(Request const&) const = default;
  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.region);
    wire(m.ticket);
    wire(m.demand);
    wire(m.place);
    wire(m.returned);
    wire(m.patience_us);
  }
};

struct Claim {
  static constexpr std::uint16_t kind = 3;
  RegionId region = 0;
  Ticket ticket = 0;
  Demand demand{};
  CpuTeam team{};

  constexpr bool is_valid() const noexcept {
    return demand.is_valid() && team.is_valid() && team.size() > 0;
  }
  bool operator==(Claim const&) const = default;
  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.region);
    wire(m.ticket);
    wire(m.demand);
    wire(m.team);
  }
};

struct Release {
  static constexpr std::uint16_t kind = 4;
  LeaseId lease = 0;

  constexpr bool is_valid() const noexcept { return lease != 0; }
  bool operator==(Release const&) const = default;
  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.lease);
  }
};

// A program's report on its regions: one run in each 100 ms that a thread spends in regions, of the
// region in which those end, and each run that a trial asks for.
struct Report {
  static constexpr std::uint64_t every_ns = 100'000'000;
  static constexpr std::uint16_t kind = 5;
  RegionId region = 0;
  std::uint32_t threads = 0;
  std::uint64_t duration_ns = 0;
  std::uint32_t trial = 0;  // its number; 0: none

  constexpr bool is_valid() const noexcept {
    return 1 <= threads && threads <= max_cpus && 0 < duration_ns && duration_ns <= INT64_MAX &&
           trial <= last_trial;
  }
  bool operator==(Report const&) const = default;
  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.region);
    wire(m.threads);
    wire(m.duration_ns);
    wire(m.trial);
  }
};

// Asks for the state of the host, and of the first program whose number is at least `program`: one
// answer to each question, so no reader is flooded.
struct Query {
  static constexpr std::uint16_t kind = 6;
  std::uint32_t program = 0;

  constexpr bool is_valid() const noexcept { return true; }
  bool operator==(Query const&) const = default;
  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.program);
  }
};

// ---- from the coordinator

struct Welcome {
  static constexpr std::uint16_t kind = 129;
  std::uint32_t program = 0;  // its number, never used again
  std::uint32_t cpus = 0;     // that the program may get

  constexpr bool is_valid() const noexcept { return program != 0 && 0 < cpus && cpus <= max_cpus; }
  bool operator==(Welcome const&) const = default;
  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.program);
    wire(m.cpus);
  }
};

struct Grant {
  static constexpr std::uint16_t kind = 130;
  LeaseId lease = 0;
  Ticket ticket = 0;
  std::uint32_t wanted = 0;  // the team's size if enough cpus had been free
  // 1: external load uses some of these cpus, so the team should not be bound to them.
  std::uint8_t floats = 0;
  CpuTeam team{};

  constexpr bool is_valid() const noexcept {
    return lease != 0 && wanted <= max_cpus && floats <= 1 && team.is_valid() && team.size() > 0;
  }
  bool operator==(Grant const&) const = default;
  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.lease);
    wire(m.ticket);
    wire(m.wanted);
    wire(m.floats);
    wire(m.team);
  }
};

struct Revoke {
  enum class Reason : std::uint8_t {
    others_wait,  // ask again for what is left
    more_free,    // ask again and get more
    ended,        // asked back too long ago: others have its cpus
    if_idle,      // others wait: if no region uses it just now
    if_rested,  // others have few cpus: if no region has used it since the last Revoke of this kind
  };
  static constexpr std::uint16_t kind = 131;
  LeaseId lease = 0;
  Reason reason = Reason::others_wait;

  constexpr bool is_valid() const noexcept { return lease != 0 && reason <= Reason::if_rested; }
  bool operator==(Revoke const&) const = default;
  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.lease);
    wire(m.reason);
  }
};
// Asks the lease back even if a region uses it.
constexpr bool is_for_good(Revoke::Reason why) noexcept {
  return why != Revoke::Reason::if_idle && why != Revoke::Reason::if_rested;
}

struct Refusal {
  enum class Reason : std::uint8_t {
    foreign_version,     // the connection is useless
    malformed,           // nor here
    not_registered,      //
    already_registered,  //
    no_cpus,             // none of those it may use can be had here
    too_many_programs,   //
    too_many_requests,   // this program's waiting ones or leases
    ticket_in_use,       // a request with this ticket waits
    not_its_lease,       // the program has no such lease
    cpus_taken,          // of a claim: none is left
  };
  static constexpr std::uint16_t kind = 132;
  Ticket ticket = 0;  // of the request or claim, else 0
  Reason reason = Reason::malformed;

  constexpr bool is_valid() const noexcept { return reason <= Reason::cpus_taken; }
  bool operator==(Refusal const&) const = default;
  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.ticket);
    wire(m.reason);
  }
};

struct Status {
  static constexpr std::uint16_t kind = 133;
  // the host
  std::uint32_t cpus = 0;
  std::uint32_t free = 0;
  std::uint32_t programs = 0;
  std::uint32_t waiting = 0;  // requests
  std::uint64_t up_us = 0;    // since the start, as all counts here
  std::uint64_t grants = 0;
  std::uint64_t revocations = 0;
  std::uint64_t refusals = 0;
  std::uint64_t unplaced = 0;        // requests whose patience was over
  std::uint8_t measures_energy = 0;  // or 1
  std::uint64_t energy_uj = 0;
  CpuSet external_load{};            // cpus busy with programs that know no coordinator
  std::uint8_t has_unseen_load = 0;  // or 1: such programs use cpus that are leased
  // the program; all 0 when no program has a number as high as that
  std::uint32_t program = 0;
  // Of the process that connected: its number, which another process may have by now, the user, and
  // its start as the 22nd field of /proc/PID/stat has it. Start 0: not known, or it had ended.
  std::uint32_t pid = 0;
  std::uint32_t user = 0;
  std::uint64_t started = 0;
  Name name{};
  std::uint32_t held = 0;          // cpus
  CpuSet holds{};                  // these
  std::uint32_t wanted = 0;        // threads, of its newest lease, or else of its oldest request
  RegionId region = 0;             // of the same
  Demand learnt{};                 // what this region can use, from its own runs
  std::uint32_t efficiency = 0;    // speedup by thread with what is held, in 1/1000; 0: unknown
  std::uint32_t requests = 0;      // waiting
  std::uint64_t waiting_us = 0;    // its oldest request
  std::uint64_t granted = 0;       // leases
  std::uint64_t waited_us = 0;     // all its requests
  std::uint64_t ran_unplaced = 0;  // of its requests
  std::uint64_t used_uj = 0;       // of the host's energy
  std::uint64_t tasks = 0;         // that nigh has run for it, as its page says
  std::uint64_t stolen = 0;        // of these

  constexpr bool is_valid() const noexcept {
    return cpus <= max_cpus && free <= cpus && name.is_valid() && learnt.is_valid() &&
           efficiency <= 1000 && measures_energy <= 1 && has_unseen_load <= 1;
  }
  bool operator==(Status const&) const = default;
  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.cpus);
    wire(m.free);
    wire(m.programs);
    wire(m.waiting);
    wire(m.up_us);
    wire(m.grants);
    wire(m.revocations);
    wire(m.refusals);
    wire(m.unplaced);
    wire(m.measures_energy);
    wire(m.energy_uj);
    wire(m.external_load.words);
    wire(m.has_unseen_load);
    wire(m.program);
    wire(m.pid);
    wire(m.user);
    wire(m.started);
    wire(m.name);
    wire(m.held);
    wire(m.holds.words);
    wire(m.wanted);
    wire(m.region);
    wire(m.learnt);
    wire(m.efficiency);
    wire(m.requests);
    wire(m.waiting_us);
    wire(m.granted);
    wire(m.waited_us);
    wire(m.ran_unplaced);
    wire(m.used_uj);
    wire(m.tasks);
    wire(m.stolen);
  }
};

// The advice on a region, for a thread that enters it with a lease that it has kept.
struct Advice {
  static constexpr std::uint16_t kind = 134;
  RegionId region = 0;
  std::uint32_t maximum = 0;  // threads that it can use; 0: not known
  std::uint32_t limit = 0;    // it must not have more, even if its lease does; 0: no limit
  std::uint32_t trial = 0;    // a trial's number; 0: none is under way
  std::uint32_t size = 0;     // of the trial's team

  constexpr bool is_valid() const noexcept {
    return maximum <= max_cpus && (limit == 0 || limit == maximum) && size <= max_cpus &&
           trial <= last_trial && (trial == 0) == (size == 0);
  }
  bool operator==(Advice const&) const = default;
  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.region);
    wire(m.maximum);
    wire(m.limit);
    wire(m.trial);
    wire(m.size);
  }
};

// The answer to a request whose patience is over: no cpu is free for it. Its region runs as without
// a coordinator.
struct Unplaced {
  static constexpr std::uint16_t kind = 135;
  Ticket ticket = 0;

  constexpr bool is_valid() const noexcept { return true; }
  bool operator==(Unplaced const&) const = default;
  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.ticket);
  }
};

using ProgramMessage = std::variant<Register, Request, Claim, Release, Report, Query>;
using CoordinatorMessage = std::variant<Welcome, Grant, Revoke, Refusal, Status, Advice, Unplaced>;

}  // namespace nigh::coordinator
