// SPDX-License-Identifier: Apache-2.0
#pragma once
// Command lines of the form nigh COMMAND [OPTIONS] [--] PROGRAM ARGUMENTS..., where the program's
// arguments may look like our options. CLI11 sees only the words before the program.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace nigh::cli {

// Cuts the program and its arguments off the words after COMMAND: they begin after the first "--",
// or with the first word that is neither an option nor an option's value.
std::vector<std::string> cut_program(CLI::App const& command, std::vector<std::string>& words);

// Writes ./[a] for a file [a] among the words of a command that takes files: CLI11 takes a word in
// brackets for a list.
void keep_brackets(CLI::App const& command, std::vector<std::string>& words);

}  // namespace nigh::cli
