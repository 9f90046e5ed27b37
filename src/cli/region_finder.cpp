// SPDX-License-Identifier: Apache-2.0
#include "cli/region_finder.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "platform/answering_child.hpp"
#include "platform/elf.hpp"
#include "platform/process_usage.hpp"
#include "platform/whole_file.hpp"

namespace nigh::cli {

namespace fs = std::filesystem;
using coordinator::RegionId;

std::uint64_t bytes_to_read(fs::path const& file, std::uint64_t most) {
  // of its size: mapped, its tables of lines, and compressed parts
  constexpr std::uint64_t times = 8;
  return std::min(times * std::min(platform::bytes_on_disk(file), most), most);
}

RegionFinder::RegionFinder(fs::path program, std::vector<fs::path> const& libraries,
                           std::optional<int> pid, std::uint64_t most_bytes)
    : pid_(pid), most_bytes_(most_bytes) {
  program_.file = std::move(program);
  for (auto const& library : libraries) add(library);
}

// By the name it was loaded under: its own, or its file's where it has none.
void RegionFinder::add(fs::path const& library) {
  auto const elf = platform::read_elf(library);
  if (!elf) return;
  auto const name = elf->library_name.empty() ? library.filename().string() : elf->library_name;
  libraries_.try_emplace(coordinator::library_number(name.c_str()), Binary{library, {}, false});
}

RegionFinder::Binary* RegionFinder::binary_of(RegionId region) {
  if ((region & coordinator::in_no_file) != 0) return nullptr;
  auto const number = coordinator::library_of(region);
  if (number == 0) return &program_;
  // Libraries are loaded at any time.
  if (pid_ && !libraries_.contains(number)) {
    std::error_code unknown;
    auto const program = fs::read_symlink(program_.file, unknown);
    for (auto const& file : platform::mapped_code(*pid_))
      if (file != program) add(file);
  }
  auto const found = libraries_.find(number);
  return found == libraries_.end() ? nullptr : &found->second;
}

RegionCode RegionFinder::find(RegionId region) {
  RegionCode code;
  code.address = coordinator::address_of(region);
  Binary* const binary = binary_of(region);
  if (binary == nullptr) return code;
  code.file = binary->file;
  code.is_in_library = binary != &program_;
  if (!std::exchange(binary->is_opened, true)) {
    platform::allow_memory(bytes_to_read(binary->file, most_bytes_));
    binary->code = CodeFile::open(binary->file);
  }
  if (binary->code) code.at = binary->code->find(code.address);
  return code;
}

}  // namespace nigh::cli
