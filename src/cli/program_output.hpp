// SPDX-License-Identifier: Apache-2.0
#pragma once
// The output of a program that is measured: kept in a file that is gone when we are done.

#include <filesystem>
#include <string>

namespace nigh::cli {

class ProgramOutput {
 public:
  ProgramOutput();
  ~ProgramOutput();
  ProgramOutput(ProgramOutput&&) = delete;

  std::filesystem::path const& path() const { return path_; }
  std::string text() const;
  std::string end() const;  // or all, if it is short

 private:
  std::filesystem::path path_;
};

// At most so many lines from the end, joined by '\n'. It ends with a line that has words, if there is one: blank
// lines and rulers behind it are left out.
std::string last_lines(std::string text, int lines);

}  // namespace nigh::cli
