// SPDX-License-Identifier: Apache-2.0
#pragma once
// Commands of the user's that share a host, and ways to run them, as they are given on the command
// line. Functions throw UsageError, which names the argument.

#include <regex.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bench {

struct UserCommand {
  std::string text;                // as it was given
  std::vector<std::string> words;  // [0]: the program, which is there
};

// Words as a shell has them: between blanks; '...', "..." and \ keep blanks and each other.
// Nothing is expanded, and no shell is run: sh -c '...' is a command, too.
std::vector<std::string> shell_words(std::string const& argument, std::string const& text);

// The commands given one by one, then those of the file, one a line; a line that is empty or begins
// with # is none. An empty `file`: there is none.
std::vector<UserCommand> user_commands(std::vector<std::string> const& texts,
                                       std::string const& file);

struct CommandWay {  // all of the commands, with these variables set
  std::string name;
  std::map<std::string, std::string> environment = {};
  bool is_in_turn = false;  // one after the other, or all at once

  // Under `nigh run`: said by the name, so that results tell it, too.
  bool has_nigh() const { return name.starts_with("nigh"); }
};

// default, sequential, one-thread, passive, nigh; then those given as NAME=VAR=VALUE[,VAR=VALUE].
std::vector<CommandWay> command_ways(std::vector<std::string> const& more);

// An output without the lines that may differ from run to run, as a number.
class OutputHash {
 public:
  // Regular expressions of POSIX, extended as grep -E has them.
  explicit OutputHash(std::vector<std::string> const& ignored);

  std::uint64_t operator()(std::string const& output) const;

 private:
  struct Free {
    void operator()(regex_t* r) const noexcept {
      regfree(r);
      delete r;
    }
  };
  std::vector<std::unique_ptr<regex_t, Free>> ignored_;
};

}  // namespace bench
