// SPDX-License-Identifier: Apache-2.0
#include "cli/top/terminal.hpp"

#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <langinfo.h>
#include <term.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "platform/terminal.hpp"

namespace nigh::cli::top {
namespace {

// Pairs of colours; those of programs come after them.
enum Pair : short { on_cyan = 1, on_green, yellow, on_white, programs };

struct Colour {
  short letter, ground;
};
// Distinguishable background colours, in the order of letters.
constexpr std::array<Colour, 6> few{{{COLOR_BLACK, COLOR_GREEN},
                                     {COLOR_BLACK, COLOR_YELLOW},
                                     {COLOR_WHITE, COLOR_BLUE},
                                     {COLOR_BLACK, COLOR_MAGENTA},
                                     {COLOR_BLACK, COLOR_CYAN},
                                     {COLOR_WHITE, COLOR_RED}}};
// Of xterm's 256.
constexpr std::array<Colour, 12> many{{{16, 114},
                                       {16, 215},
                                       {16, 111},
                                       {16, 221},
                                       {16, 176},
                                       {16, 80},
                                       {16, 210},
                                       {16, 150},
                                       {231, 61},
                                       {231, 130},
                                       {231, 29},
                                       {231, 132}}};

template <class Colours>
int init_programs(Colours const& colours) {
  for (std::size_t i = 0; i < colours.size(); ++i)
    ::init_pair(static_cast<short>(programs + i), colours[i].letter, colours[i].ground);
  return static_cast<int>(colours.size());
}

int init_colours() {
  char const* const refused = std::getenv("NO_COLOR");
  if ((refused != nullptr && *refused != '\0') || !::has_colors()) return 0;
  ::start_color();
  ::use_default_colors();
  if (COLORS < 8 || COLOR_PAIRS < 32) return 0;
  ::init_pair(on_cyan, COLOR_BLACK, COLOR_CYAN);
  ::init_pair(on_green, COLOR_BLACK, COLOR_GREEN);
  ::init_pair(yellow, COLOR_YELLOW, -1);
  ::init_pair(on_white, COLOR_BLACK, COLOR_WHITE);
  return COLORS >= 256 ? init_programs(many) : init_programs(few);
}

std::optional<Key> key_of(int code) {
  using Kind = Key::Kind;
  switch (code) {
    case ERR:
      return std::nullopt;
    case KEY_UP:
      return Key{Kind::up};
    case KEY_DOWN:
      return Key{Kind::down};
    case KEY_PPAGE:
      return Key{Kind::page_up};
    case KEY_NPAGE:
      return Key{Kind::page_down};
    case KEY_HOME:
    case KEY_FIND:
      return Key{Kind::home};
    case KEY_END:
    case KEY_SELECT:
      return Key{Kind::end};
    case KEY_ENTER:
    case '\n':
    case '\r':
      return Key{Kind::enter};
    case 27:
      return Key{Kind::escape};
    case KEY_BACKSPACE:
    case 127:
    case '\b':
      return Key{Kind::backspace};
    case KEY_RESIZE:
      return Key{Kind::resize};
    default:
      break;
  }
  if (code > KEY_F0 && code <= KEY_F0 + 12) return Key::f(code - KEY_F0);
  if (code >= ' ' && code <= 255) return Key{Kind::character, code};
  return Key{};
}

}  // namespace

Signs const& signs_of_locale() {
  std::setlocale(LC_CTYPE, "");
  return std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0 ? unicode_signs : ascii_signs;
}

std::string Terminal::why_not() {
  if (!platform::is_interactive()) return "standard input and output are no terminal";
  char const* const name = std::getenv("TERM");
  if (name == nullptr || *name == '\0') return "TERM is not set";
  int error = 0;
  std::string const terminal = name;
  if (::setupterm(terminal.c_str(), platform::standard_output, &error) != OK)
    return "TERM=" + terminal + " is not known here";
  std::string moves = "cup";
  char const* const how = ::tigetstr(moves.data());
  bool const is_addressable = how != nullptr && how != reinterpret_cast<char const*>(-1);
  ::del_curterm(::cur_term);
  return is_addressable ? std::string() : "TERM=" + terminal + " has no cursor to move";
}

Terminal::Terminal() {
  signs_of_locale();
  ::initscr();
  ::cbreak();
  ::noecho();
  ::nonl();
  ::keypad(stdscr, true);
  ::nodelay(stdscr, true);
  // The rest of a key's sequence may come late on a busy host.
  constexpr int escape_ms = 100;
  ::set_escdelay(escape_ms);
  ::curs_set(0);
  colours_ = init_colours();
}

Terminal::~Terminal() { ::endwin(); }

int Terminal::width() const { return std::max(1, ::getmaxx(stdscr)); }
int Terminal::height() const { return std::max(1, ::getmaxy(stdscr)); }

std::optional<Key> Terminal::key() {
  constexpr int redraw = 'L' & 31;
  int const code = ::getch();
  if (code == redraw) ::clearok(stdscr, true);
  return key_of(code);
}

unsigned long Terminal::attributes_of(Style style) const {
  auto const pair = [&](int number, attr_t otherwise) -> attr_t {
    return colours_ > 0 ? static_cast<attr_t>(::COLOR_PAIR(number)) : otherwise;
  };
  switch (style.ink) {
    case Ink::plain:
    case Ink::key:
      break;
    case Ink::faint:
      return A_DIM;
    case Ink::strong:
      return A_BOLD;
    case Ink::warning:
      return A_BOLD | pair(yellow, 0);
    case Ink::label:
    case Ink::chosen:
      return pair(on_cyan, A_REVERSE);
    case Ink::head:
      return pair(on_green, A_REVERSE);
    case Ink::sorted:
      return pair(on_cyan, A_REVERSE | A_BOLD);
    case Ink::external:
      return pair(on_white, A_BOLD);
    case Ink::program:
      if (colours_ == 0) return style.is_chosen ? A_REVERSE | A_BOLD : A_BOLD;
      return pair(programs + style.colour % colours_, 0) |
             (style.is_chosen ? A_BOLD | A_UNDERLINE : 0);
  }
  return A_NORMAL;
}

void Terminal::draw(Screen const& screen) {
  ::erase();
  int const across = width();
  for (int y = 0; auto const& row : screen.rows) {
    if (y >= height()) break;
    if (row.ground.ink != Ink::plain) {
      ::attrset(static_cast<int>(attributes_of(row.ground)));
      ::mvhline(y, 0, ' ', across);
    }
    for (auto const& piece : row.pieces) {
      if (piece.column >= across) continue;
      ::attrset(static_cast<int>(attributes_of(piece.style)));
      ::mvaddstr(y, piece.column,
                 cut_to(piece.text, across - piece.column, signs_of_locale()).c_str());
    }
    ++y;
  }
  ::attrset(A_NORMAL);
  ::curs_set(screen.caret ? 1 : 0);
  if (screen.caret) ::move(height() - 1, *screen.caret);
  ::refresh();
}

}  // namespace nigh::cli::top
