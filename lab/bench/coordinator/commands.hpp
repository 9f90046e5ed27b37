// SPDX-License-Identifier: Apache-2.0
#pragma once
// Commands of the user's that share a host, and ways to run them, as they are given on the command
// line. Functions throw UsageError, which names the argument.

#include <regex.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/results.hpp"
#include "platform/cgroup.hpp"

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

// Those that another argument gives.
std::vector<UserCommand> user_commands(std::string const& argument,
                                       std::vector<std::string> const& texts);

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

// Commands of the user's on one host, in ways without nigh and under `nigh run`: how long they
// take, and whether they print what they print without it.

struct CommandOptions {
  std::vector<UserCommand> commands;
  std::vector<CommandWay> ways;
  std::vector<UserCommand> beside;   // without nigh, for as long as a sample takes
  std::vector<std::string> ignored;  // lines of outputs, as OutputHash takes them
  bool alone = false;                // each of them alone, too
  long repetitions = 5;
  long limit_seconds = 600;  // for a sample
};

struct CommandOutcome {               // of one command in one way
  std::vector<std::uint64_t> hashes;  // of its output, by repetition
  int status = 0;                     // the first that was not 0
  std::string complaint = {};         // the last line of its standard error by then
};

struct CommandCell {
  CommandWay way;
  std::optional<std::size_t> alone = {};  // which command; nothing: all of them
  std::vector<double> seconds = {};       // until the last has ended, by repetition
  std::vector<double> cpu_seconds = {};   // of all commands
  std::vector<double> leases = {};        // of cpus, that the coordinator granted
  // Over all repetitions; nothing: there is no quota.
  std::optional<nigh::platform::Throttling> throttling = {};
  std::vector<CommandOutcome> outcomes = {};  // by command; of one, where it is alone
  std::string absent = {};
};

enum class Output {
  same,     // as without nigh
  other,    // not nigh's doing: another way without it, as with fewer threads
  varies,   // runs without nigh do not agree, or there are fewer than two: not judged
  differs,  // runs without nigh agree, and this one has printed something else
};

struct CommandStudy {
  CommandOptions options;
  std::vector<CommandCell> cells;

  // A hash of the output of command i without nigh and with these variables; nothing if
  // there are fewer than two runs, or two differ. nigh's own variables make no difference.
  std::optional<std::uint64_t> plain_output(std::size_t i, CommandWay const& way) const;
  Output output(CommandCell const& cell, std::size_t nth) const;  // of its nth outcome
  bool is_right(CommandCell const& cell) const;  // all commands ended with 0, and none differs
  CommandCell const& best_plain() const;         // of those with all commands
  CommandCell const* plain_alone(std::size_t i) const;
};

CommandStudy study_commands(CommandOptions const& options);
std::string describe(CommandStudy const& study);
std::vector<Result> results(CommandStudy const& study);

}  // namespace bench
