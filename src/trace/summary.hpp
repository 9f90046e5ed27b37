// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run in numbers, in the manner of the "Benchmark Characteristics" table of HotSLAW's paper.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "trace/counters.hpp"

namespace nigh::trace {

struct Summary {
  std::uint64_t runtimes = 0;
  std::uint64_t workers = 0;
  std::uint64_t created = 0;     // tasks, serialized ones among them
  std::uint64_t serialized = 0;  // run in the spawn's place: stack full or cutoff reached
  std::array<std::uint64_t, level_count> steals{};  // [level]
  std::uint64_t stolen = 0;                         // tasks
  std::uint64_t failed = 0;                         // rounds of a search
  std::uint64_t parks = 0;
  std::uint64_t busy_ns = 0;      // of all workers, inside tasks
  std::uint64_t elapsed_ns = 0;   // from the first begin to the last end
  std::uint64_t events_lost = 0;  // overwritten in the rings, but contained in the sums above

  bool operator==(Summary const&) const = default;
};

// The sums of several runtimes or processes, and the longest elapsed time.
Summary operator+(Summary a, Summary const& b);

std::uint64_t all_steals(Summary const& s);

// Members of a JSON object, without its braces.
std::string json_members(Summary const& s);

// Several lines. creation_overhead_ns: what creating one task costs, if measured.
std::string text(Summary const& s, std::optional<double> creation_overhead_ns);

}  // namespace nigh::trace
