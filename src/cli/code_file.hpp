// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which function and line an address in a program or library is, by its symbols and its debug
// information, or that which is installed beside it (/usr/lib/debug).

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace nigh::cli {

// What is not known is empty.
struct CodeLine {
  std::string function = {};  // demangled, with what the compiler added
  std::uint64_t offset = 0;   // in the function
  std::string source = {};    // as the compiler was given it
  int line = 0;
};

class CodeFile {
 public:
  // Empty: there is none, or it is no ELF file.
  static std::optional<CodeFile> open(std::filesystem::path const& file);

  // `address` as in the file: of a place in memory, less where the file was loaded.
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
