// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parallel regions as people know them: by file and line.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/code_file.hpp"
#include "cli/program_process.hpp"
#include "cli/traced_run.hpp"
#include "coordinator/protocol/region_id.hpp"
#include "platform/answering_child.hpp"

namespace nigh::cli {

// Unknown parts are empty.
struct RegionCode {
  std::filesystem::path file = {};  // the program or library with its code
  bool is_in_library = false;
  std::uint64_t address = 0;  // there
  CodeLine at = {};
};

// "cg.cpp:113"; without debug information "solve+0x40"; without symbols "0x11d0", or
// "libx.so+0x11d0" in a library.
std::string short_name(RegionCode const& region);

// The function in which the region was written, without its parameters: compilers make a function
// of the region's body, and add to the name.
std::string function_of(RegionCode const& region);

// Finds the regions of one program, and keeps answers. Its functions and sources are printable.
class RegionNames {
 public:
  static RegionNames of_program(std::filesystem::path program,
                                std::vector<std::filesystem::path> const& libraries = {});
  // For a running program: with the libraries it has loaded. Its files are read with the rights of
  // its user; where these do not suffice, or we may not use them, names are addresses. So they are
  // when the process has ended, even if another one has its number by now.
  static RegionNames of_process(ProgramProcess const& process);

  RegionCode const& find(coordinator::RegionId region);
  std::string name(coordinator::RegionId region) { return short_name(find(region)); }

 private:
  struct Reader {
    std::unique_ptr<platform::AnsweringChild> child = {};
    bool is_anothers = false;  // has another user's rights
  };
  Reader start() const;
  RegionCode look_for(coordinator::RegionId region);

  std::optional<ProgramProcess> process_;
  std::filesystem::path program_;
  std::vector<std::filesystem::path> libraries_;
  Reader reader_;
  bool has_failed_ = false;
  std::map<coordinator::RegionId, RegionCode> found_;
};

// The names of a traced process's codes, in their order.
std::vector<std::string> names_of(ReadTrace const& read);

}  // namespace nigh::cli
