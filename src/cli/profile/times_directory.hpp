// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the shim leaves the times of one run's regions, and the variables by which it does
// (src/openmp/study.hpp).

#include <filesystem>
#include <nigh/topology.hpp>
#include <string>
#include <vector>

namespace nigh::cli {

// The files that the shim writes, a file for each process; gone with this object.
class TimesDirectory {
 public:
  TimesDirectory();
  ~TimesDirectory();
  TimesDirectory(TimesDirectory&&) = delete;

  std::filesystem::path const& path() const { return path_; }
  std::vector<std::string> variables(int team) const;

 private:
  std::filesystem::path path_;
};

// The cpus of teams of any size, in their order.
std::string study_cpus(topology const& machine);

}  // namespace nigh::cli
