// SPDX-License-Identifier: Apache-2.0
#pragma once
// Makes texts of programs and files fit for people and terminals: names, paths and reasons may be
// any bytes.

#include <cstddef>
#include <string>
#include <string_view>

namespace nigh::base {

struct FirstCharacter {
  char32_t code = 0;  // the byte, where no character begins
  std::size_t bytes = 1;
  bool is_utf8 = false;
  bool is_printable = false;  // no control, no invisible character, no mark that turns what follows
};

// Of a text that is not empty, the first.
FirstCharacter first_character(std::string_view text);

// The text in one line, with escapes in place of all that is not printable: "\n", "\x1b", "\u202e".
// Beyond U+FFFF there are two escapes, as in JSON: "\udb40\udc01".
std::string printable(std::string_view text);

// The same for texts of several lines: a line's end and a tab stay.
std::string printable_lines(std::string_view text);

}  // namespace nigh::base
