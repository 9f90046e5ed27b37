// SPDX-License-Identifier: Apache-2.0
#pragma once
// A screen before it reaches a terminal: rows of pieces of text, each at its column and with its
// ink.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nigh::cli::top {

enum class Ink : std::uint8_t {
  plain,
  faint,
  strong,
  warning,
  key,       // of the line of keys
  label,     // beside a key
  head,      // of a table
  sorted,    // that column's head
  chosen,    // the row under the cursor
  program,   // by its colour
  external,  // a cpu with external load
};

struct Style {
  Ink ink = Ink::plain;
  int colour = 0;          // of Ink::program
  bool is_chosen = false;  // of Ink::program: the cursor is on it
  bool operator==(Style const&) const = default;
};

struct Piece {
  int column = 0;
  std::string text;
  Style style = {};
  bool operator==(Piece const&) const = default;
};

struct Row {
  std::vector<Piece> pieces;
  Style ground = {};  // between and behind the pieces

  int end() const;  // the column after the last piece
  void add(std::string text, Style style = {}) { add_at(end(), std::move(text), style); }
  void add_at(int column, std::string text, Style style = {});
  std::string text() const;  // without ink, without spaces at the end
};

using Rows = std::vector<Row>;

std::string text_of(Rows const& rows);

// Signs that not every terminal has.
struct Signs {
  std::string_view branch, last_branch, stem, ascending, descending, cut;
  bool any_letter;  // otherwise only those of ASCII
};
inline constexpr Signs unicode_signs{"├─ ", "└─ ", "│  ", "▲", "▼", "…", true};
inline constexpr Signs ascii_signs{"|- ", "`- ", "|  ", "^", "v", "~", false};

// ---- text from other programs

// Columns that it takes; East Asian characters take two.
int width_of(std::string_view text);
// Bytes that are no text, and those that a terminal may take for a command, become question marks;
// so do letters that the terminal does not have.
std::string printable(std::string_view text, Signs const& signs);
// At most so wide; the sign for a cut follows the text that was cut.
std::string cut_to(std::string_view text, int width, Signs const& signs);
// The same, but keeps the end of the text.
std::string cut_front_to(std::string_view text, int width, Signs const& signs);

}  // namespace nigh::cli::top
