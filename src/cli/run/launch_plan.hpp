// SPDX-License-Identifier: Apache-2.0
#pragma once
// Carries out a plan: variables, mask and memory policy for a program, with the library that gives
// threads their places when no runtime does.

#include <cstdint>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/run/plan.hpp"
#include "platform/launch.hpp"

namespace nigh::cli {

// The preloaded library (src/preload, src/openmp); where it cannot be used, why.
struct Shim {
  std::string file = {};  // empty: none; several are separated by colons
  std::string why_not = {};
};
enum class Purpose : std::uint8_t {
  places,       // for threads that no OpenMP or nigh runtime makes
  coordinator,  // cpus for parallel regions, from the coordinator
  spread,       // cpus for nested parallel regions, with or without a coordinator
  study,        // of parallel regions
  tasks,        // of parallel regions, run by nigh
};
Shim shim_for(std::string const& program, Purpose purpose = Purpose::places);

// LD_PRELOAD with the library added to its present value; ours comes last, as it expects least. And
// what lets programs with AddressSanitizer start with it.
std::vector<std::string> preload_variables(Shim const& shim);

// This host as we may use it. Throws when hwloc shows another machine, on which nothing can be
// bound, or the system does not say.
topology host_to_bind_to();

std::optional<std::string> from_environment(std::string_view name);

platform::Launch launch_of(Plan const& plan, Shim const& shim, std::vector<std::string> words);

// The words as a shell reads them, quoted where needed.
std::string as_shell_words(std::vector<std::string> const& words);

// A shell command that does the same.
std::string as_shell_lines(Plan const& plan, Shim const& shim,
                           std::vector<std::string> const& words);

}  // namespace nigh::cli
