// SPDX-License-Identifier: Apache-2.0
#pragma once
// What spread sites have learnt, from one run of a program to the next: the file that NIGH_SPREADS
// names, with a line for each site:
//
//   {"nigh_spreads": 1, "machine": "package:1 domain:1 l3:1 core:2 cpu:2", "sites": [
//   {"name": "sweep", "workers": 2, "spread": 2, "active": 2, "grain": 1, "seconds": 0.0123},
//   ...
//   ]}

#include <filesystem>
#include <nigh/result.hpp>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/spread_choice.hpp"

namespace nigh::loops {

struct SpreadLine {
  std::string name;
  int workers = 0;  // of the runtime
  policy::SpreadState found = {};
};

struct SpreadFile {
  std::string machine;
  std::vector<SpreadLine> sites = {};
};

// "package:1 domain:1 l3:1 core:2 cpu:2"
std::string shape_of(topology const& machine);

std::string text_of(SpreadFile const& file);
// The error is to be put behind the file's name: "is ...".
result<SpreadFile> parse_spreads(std::string_view text);

// Nothing: NIGH_SPREADS names no file, it has no such site, or is not to be used, which is said on
// standard error, once.
std::optional<policy::SpreadState> read_spread(topology const& machine, std::string const& name,
                                               int workers);
// Leaves a whole file, and all other sites in it. One that is not to be used stays as it is.
void write_spread(std::string const& machine, SpreadLine line);

// Without quotes, backslashes and control characters.
bool is_site_name(std::string_view name) noexcept;

}  // namespace nigh::loops
