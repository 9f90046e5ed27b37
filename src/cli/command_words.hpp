// SPDX-License-Identifier: Apache-2.0
#pragma once
// Words that name commands and options: `help COMMAND`, and complaints about names that are not there.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace nigh::cli {

// Turns "help COMMAND..." into "COMMAND... --help". A command that is not there is a UsageError, other
// than one that another program knows: that program complains.
void turn_help(CLI::App const& app, std::vector<std::string>& words);

// UsageError when the first word should name a command of `app`, and does not.
void check_command(CLI::App const& app, std::vector<std::string> const& words);

// The complaint about the words that CLI11 could not use, if one of them should name a command or an
// option; otherwise empty.
std::string unknown_word(CLI::App const& app);

}  // namespace nigh::cli
