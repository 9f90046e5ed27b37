// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files a command writes for the user, and what it says beside them.

#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

namespace nigh::cli {

// Writes all of `text` into the file, or leaves the file as it was: the text is written beside it,
// then renamed over it. Devices, pipes and files that are open as our standard streams are written in
// place; "-" is standard output. Throws UsageError naming the file.
void write_output(std::string const& file, std::string_view text);

// The target of a symbolic link, which need not be there; otherwise the path itself.
std::filesystem::path target_of(std::string const& file);

// Throws that UsageError now, for commands that write much later.
void check_output(std::string const& file);

// Several things to write, of which each is tried though another could not be written.
class EachWritten {
 public:
  template <class Write>
  void attempt(Write const& write) {
    try {
      write();
    } catch (...) {
      if (!first_) first_ = std::current_exception();
    }
  }
  // Throws what the first one threw that failed.
  void check() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

// On standard error, after "nigh: COMMAND: ".
void say(std::string_view command, std::string_view what);

}  // namespace nigh::cli
