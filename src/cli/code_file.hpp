// SPDX-License-Identifier: Apache-2.0
#pragma once
// The function and line of an address in a program or library, from its symbols and its debug
// information, or from debug files installed beside it (/usr/lib/debug).

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace nigh::cli {

// Unknown parts are empty.
struct CodeLine {
  std::string function = {};  // demangled, with what the compiler added
  std::uint64_t offset = 0;   // in the function
  std::string source = {};    // as the compiler was given it
  int line = 0;
};

class CodeFile {
 public:
  // Empty: the file is missing, or no ELF file.
  static std::optional<CodeFile> open(std::filesystem::path const& file);

  // `address` as in the file: an address in memory minus the file's load address.
  CodeLine find(std::uint64_t address) const;

 private:
  struct Opened;
  struct Close {
    void operator()(Opened*) const;
  };
  explicit CodeFile(std::unique_ptr<Opened, Close> opened) : opened_(std::move(opened)) {}

  std::unique_ptr<Opened, Close> opened_;
};

}  // namespace nigh::cli
