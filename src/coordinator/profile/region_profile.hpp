// SPDX-License-Identifier: Apache-2.0
#pragma once
// The knowledge of a program's regions: how long each takes with how many threads, and how many it
// can use. One profile for each binary, script or library, as text:
//
//   {"nigh_region_profile": 1, "program": "npb-cg", "path": "/usr/bin/npb-cg",
//    "binary": "27c4fd7b4eb79b1c", "cpus": 8, "regions": [
//   {"id": "0x3df60", "where": "cg.cpp:120", "source": "learnt", "maximum": 8, "optimal": 4,
//    "times": [{"threads": 4, "median_ns": 61000, "runs": 9}, ...]},
//   ...
//   ]}

#include <cstdint>
#include <nigh/result.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/protocol/message.hpp"

namespace nigh::coordinator {

// The source of a region's demand: learnt by nighd from its runs; measured, in runs with all sizes
// of teams; given by the user. Learning changes only what is learnt.
enum class Source : std::uint8_t { learnt, measured, given };
std::string_view to_string(Source s) noexcept;

struct TeamTime {
  std::uint32_t threads = 0;
  std::int64_t median_ns = 0;
  std::uint64_t runs = 0;
  std::int64_t spread_ns = 0;  // of the middle runs; 0: unknown

  bool operator==(TeamTime const&) const = default;
};

struct RegionProfile {
  RegionId id = 0;
  std::string where{};  // "cg.cpp:120"; empty: not known
  Source source = Source::learnt;
  Demand demand{};                // 0: not known yet
  std::vector<TeamTime> times{};  // by threads, ascending
  bool is_indifferent = false;    // it takes as long with any team

  bool operator==(RegionProfile const&) const = default;
};

struct ProgramProfile {
  std::string program;        // its name
  std::string path{};         // where it was run from last; empty: not known
  std::string interpreter{};  // if it is a script, the program that runs it
  bool is_library = false;    // any program may have loaded it
  std::uint64_t binary = 0;   // platform::binary_identity(), library_identity(), Script::identity
  std::uint32_t cpus = 0;     // of the machine that all except the given was learnt on
  std::vector<RegionProfile> regions{};

  RegionProfile* find(RegionId id) noexcept;
  bool operator==(ProgramProfile const&) const = default;
};

inline constexpr std::size_t most_regions = 1024;
inline constexpr std::size_t largest_profile = 8 << 20;  // bytes of text

std::string profile_text(ProgramProfile const& profile);
// The error says what is wrong with the text, to follow its file's name: "is ...".
result<ProgramProfile> parse_profile(std::string_view text);

// "0x3df60"
std::string region_name(RegionId id);
std::optional<RegionId> parse_region(std::string_view name);

}  // namespace nigh::coordinator
