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

// Memory that reading one file may take: files of programs are built by people who may wish us ill.
inline constexpr std::uint64_t most_bytes_for_own = std::uint64_t{1} << 30;
inline constexpr std::uint64_t most_bytes_for_others = std::uint64_t{64} << 20;

// Memory for reading this file, `most` at most: eight times the size that it has on the disk. A sparse
// file's own size can be any number.
std::uint64_t bytes_to_read(std::filesystem::path const& file, std::uint64_t most);

// Files are opened when they are first needed.
class RegionFinder {
 public:
  RegionFinder(std::filesystem::path program, std::vector<std::filesystem::path> const& libraries,
               std::optional<int> pid, std::uint64_t most_bytes);

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
  std::uint64_t most_bytes_;
  Binary program_;
  std::map<std::uint32_t, Binary> libraries_;  // by number
};

}  // namespace nigh::cli
