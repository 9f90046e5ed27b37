// SPDX-License-Identifier: Apache-2.0
#pragma once
// What does a program's file say of how it is loaded? A library of its own: users' programs and
// what is preloaded do without libelf.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nigh::platform {

struct ElfFacts {
  bool is_ours = false;                   // made for our word size and processor
  bool is_dynamic = false;                // loaded by a dynamic linker, which obeys LD_PRELOAD
  std::vector<std::string> needed = {};   // libraries it names, "libgomp.so.1"
  std::vector<std::string> imports = {};  // functions and data it takes from them
  std::string library_name = {};          // under which others need it; empty: it is no library
  std::string loader = {};                // its file, "/lib64/ld-linux-x86-64.so.2"
};

// Empty: no ELF file, such as a script, or one that cannot be read.
std::optional<ElfFacts> read_elf(std::filesystem::path const& file);

}  // namespace nigh::platform
