// SPDX-License-Identifier: Apache-2.0
#include "cli/program_words.hpp"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <iterator>

namespace nigh::cli {

std::vector<std::string> cut_program(CLI::App const& command, std::vector<std::string>& words) {
  auto program = words.end();
  auto options_end = words.end();
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (*word == "--" || !word->starts_with('-')) {
      options_end = word;
      program = *word == "--" ? std::next(word) : word;
      break;
    }
    auto const* const option = command.get_option_no_throw(*word);  // not of "--name=value"
    if (option != nullptr && option->get_items_expected_max() > 0 && std::next(word) != words.end())
      ++word;
  }
  std::vector<std::string> cut(std::make_move_iterator(program),
                               std::make_move_iterator(words.end()));
  words.erase(options_end, words.end());
  return cut;
}

}  // namespace nigh::cli
