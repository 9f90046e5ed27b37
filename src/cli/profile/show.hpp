// SPDX-License-Identifier: Apache-2.0
#pragma once
// nigh profile show, set, forget: the kept knowledge of programs' regions, and changing it by hand.

#include <optional>
#include <string>

namespace nigh::cli {

void show_profiles(bool json);  // all of them
void show_profile(std::string const& program, bool json);

struct GivenCounts {
  int maximum = 0;
  std::optional<int> optimal = {};
};
void set_region(std::string const& program, std::string const& region, GivenCounts const& counts);

void forget_program(std::string const& program);
void forget_region(std::string const& program, std::string const& region);

}  // namespace nigh::cli
