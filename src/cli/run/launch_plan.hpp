// SPDX-License-Identifier: Apache-2.0
#pragma once
// A plan, as it is carried out: variables, mask and policy for a program, with the library that
// gives threads their places when no runtime does.

#include <cstdint>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/run/plan.hpp"
#include "platform/launch.hpp"

namespace nigh::cli {

// The library that is preloaded (src/preload, src/openmp); where it cannot be, why.
struct Shim {
  std::string file = {};  // empty: none
  std::string why_not = {};
};
enum class Purpose : std::uint8_t {
  places,       // of threads that no OpenMP or nigh runtime makes
  coordinator,  // cpus for parallel regions, from it
  spread,       // cpus for nested parallel regions, from wherever
  study,        // of parallel regions
};
Shim shim_for(std::string const& program, Purpose purpose = Purpose::places);

// LD_PRELOAD with the library added to what it is already; ours comes last, as it expects least.
std::string preload_variable(Shim const& shim);

// This host as we may use it. Throws when hwloc was told to show another machine, on which nothing
// can be bound, or the system does not say.
topology host_to_bind_to();

std::optional<std::string> from_environment(std::string_view name);

platform::Launch launch_of(Plan const& plan, Shim const& shim, std::vector<std::string> words);

// As a shell reads them, quoted where it needs that.
std::string as_shell_words(std::vector<std::string> const& words);

// What a shell would have to be told to do the same.
std::string as_shell_lines(Plan const& plan, Shim const& shim,
                           std::vector<std::string> const& words);

}  // namespace nigh::cli
