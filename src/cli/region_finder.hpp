// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds parallel regions in the files of a program, in the process that calls it. RegionNames lets
// a child do that.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "cli/code_file.hpp"
#include "cli/region_name.hpp"
#include "coordinator/protocol/region_id.hpp"

namespace nigh::cli {

// Files are opened when they are first needed.
class RegionFinder {
 public:
  RegionFinder(std::filesystem::path program, std::vector<std::filesystem::path> const& libraries,
               std::optional<int> pid);

  RegionCode find(coordinator::RegionId region);

 private:
  struct Binary {
    std::filesystem::path file = {};
    std::optional<CodeFile> code = {};
    bool is_opened = false;
  };

  void add(std::filesystem::path const& library);
  Binary* binary_of(coordinator::RegionId region);

  std::optional<int> pid_;  // of a program that runs
  Binary program_;
  std::map<std::uint32_t, Binary> libraries_;  // by number
};

}  // namespace nigh::cli
