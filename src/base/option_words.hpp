// SPDX-License-Identifier: Apache-2.0
#pragma once
// The complaint about an option that a program does not have. Includes CLI11, which the programs
// that have options link to.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "base/nearest_name.hpp"

namespace nigh::base {

// "--name", "-name" or "-n": also an option that begins with one dash too few.
inline bool is_option(std::string const& word) {
  return word.size() > 1 && word.starts_with('-') && word != "--";
}

// no option '--thraeds'; did you mean '--threads'? Without a near one, where the options are
// listed.
inline std::string no_option(CLI::App const& app, std::string word,
                             std::string const& where_listed) {
  word.resize(std::min(word.size(), word.find('=')));
  std::vector<std::string> names;
  for (auto const* option : app.get_options())
    for (auto const& name : option->get_lnames()) names.push_back("--" + name);
  return "no option '" + word + '\'' + did_you_mean(word, names, where_listed);
}

}  // namespace nigh::base
