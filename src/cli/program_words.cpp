// SPDX-License-Identifier: Apache-2.0
#include "cli/program_words.hpp"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <iterator>

namespace nigh::cli {
namespace {

bool takes_next_word(CLI::App const& command, std::string const& word) {
  auto const* const option = command.get_option_no_throw(word);  // not of "--name=value"
  return word.starts_with('-') && option != nullptr && option->get_items_expected_max() > 0;
}

}  // namespace

std::vector<std::string> cut_program(CLI::App const& command, std::vector<std::string>& words) {
  auto program = words.end();
  auto options_end = words.end();
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (*word == "--" || !word->starts_with('-')) {
      options_end = word;
      program = *word == "--" ? std::next(word) : word;
      break;
    }
    if (takes_next_word(command, *word) && std::next(word) != words.end()) ++word;
  }
  std::vector<std::string> cut(std::make_move_iterator(program),
                               std::make_move_iterator(words.end()));
  words.erase(options_end, words.end());
  return cut;
}

void keep_brackets(CLI::App const& command, std::vector<std::string>& words) {
  bool is_value = false;
  for (auto& word : words) {
    if (!is_value && word.starts_with('[') && word.ends_with(']')) word.insert(0, "./");
    is_value = !is_value && takes_next_word(command, word);
  }
}

}  // namespace nigh::cli
