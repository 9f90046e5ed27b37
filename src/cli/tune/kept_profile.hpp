// SPDX-License-Identifier: Apache-2.0
#pragma once
// Profiles say how they were measured, so that a better one is not overwritten by a worse one.

#include <cstdint>
#include <nigh/result.hpp>
#include <optional>
#include <string>
#include <vector>

namespace nigh::cli {

// How the configuration of a profile was found: its field "measured".
struct Measurement {
  std::vector<std::string> words = {};  // the program and its arguments
  std::uint64_t binary = 0;             // of the program's file; 0: not known
  std::string metric = "time";
  bool is_maximized = false;
  double value = 0, low = 0, high = 0;  // with its 95% interval
  int runs = 0;                         // of the configuration
  bool is_sure = false;                 // repeated, and beyond the spread of the program as it is
  std::optional<double> others_cpus = {};  // that others kept busy meanwhile
  int cpus = 0;                            // that the program may use, where that is known
  std::string date = {};                   // UTC

  bool operator==(Measurement const&) const = default;
};

// The profile with this field; what a profile says of it, or nothing.
std::string with_measurement(std::string const& profile, Measurement const& measured);
std::optional<Measurement> measurement_in(std::string const& profile);

// The fate of a profile that has the name of a new one.
struct OldProfile {
  enum class Fate : std::uint8_t {
    replaced,
    moved,  // the two cannot be compared: it gets another name
    kept    // it was measured better: the new one gets another name
  } fate = Fate::replaced;
  std::string why = {};  // moved, kept
};
// `are_alike`: both are for the same machine.
OldProfile fate_of(std::optional<Measurement> const& old, Measurement const& fresh, bool are_alike);

// "nigh-profile.json", "new" -> "nigh-profile.new.json".
std::string name_beside(std::string const& file, std::string const& which);

// There is such a file, and something else in it than a profile.
bool holds_no_profile(std::string const& file);

// Writes the profile, says on standard error what became of another one with its name, and returns the
// file where it is now.
std::string write_profile(std::string const& file, std::string const& profile, Measurement const& measured,
                          bool is_forced);

}  // namespace nigh::cli
