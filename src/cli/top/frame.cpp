// SPDX-License-Identifier: Apache-2.0
#include "cli/top/frame.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace nigh::cli::top {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool is_good = false;
};

Character first_of(std::string_view text) {
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto const lead = byte(0);
  if (lead < 0x80) return {lead, 1, lead >= 0x20 && lead != 0x7f};
  std::size_t const bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0x7f >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::array<char32_t, 5> shortest{0, 0, 0x80, 0x800, 0x10000};
  bool const is_character =
      code >= shortest[bytes] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  // Controls, and marks that turn the direction of what follows.
  bool const commands = code < 0xa0 || (code >= 0x200b && code <= 0x200f) ||
                        (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return {code, is_character ? bytes : 1, is_character && !commands};
}

int width_of(char32_t code) {
  struct Span {
    char32_t first, last;
  };
  constexpr std::array<Span, 3> none{{{0x300, 0x36f}, {0x1ab0, 0x1aff}, {0xfe00, 0xfe0f}}};
  constexpr std::array<Span, 9> two{{{0x1100, 0x115f},
                                     {0x2e80, 0xa4cf},
                                     {0xac00, 0xd7a3},
                                     {0xf900, 0xfaff},
                                     {0xfe30, 0xfe6f},
                                     {0xff00, 0xff60},
                                     {0xffe0, 0xffe6},
                                     {0x1f300, 0x1faff},
                                     {0x20000, 0x3fffd}}};
  auto const holds = [&](Span s) { return s.first <= code && code <= s.last; };
  if (std::any_of(none.begin(), none.end(), holds)) return 0;
  return std::any_of(two.begin(), two.end(), holds) ? 2 : 1;
}

}  // namespace

int width_of(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    auto const c = first_of(text.substr(at));
    width += c.is_good ? width_of(c.code) : 1;
    at += c.bytes;
  }
  return width;
}

std::string printable(std::string_view text, Signs const& signs) {
  std::string clean;
  for (std::size_t at = 0; at < text.size();) {
    auto const c = first_of(text.substr(at));
    bool const shows = c.is_good && (signs.any_letter || c.code < 0x80);
    clean += shows ? text.substr(at, c.bytes) : "?";
    at += c.bytes;
  }
  return clean;
}

std::string cut_to(std::string_view text, int width, Signs const& signs) {
  if (width_of(text) <= width) return std::string(text);
  int const room = width - width_of(signs.cut);
  if (room < 0) return {};
  std::size_t end = 0;
  for (int used = 0; end < text.size();) {
    auto const c = first_of(text.substr(end));
    used += c.is_good ? width_of(c.code) : 1;
    if (used > room) break;
    end += c.bytes;
  }
  return std::string(text.substr(0, end)) + std::string(signs.cut);
}

std::string cut_front_to(std::string_view text, int width, Signs const& signs) {
  int const all = width_of(text);
  if (all <= width) return std::string(text);
  int const room = width - width_of(signs.cut);
  if (room < 0) return {};
  std::size_t begin = 0;
  for (int left = all; begin < text.size() && left > room;) {
    auto const c = first_of(text.substr(begin));
    left -= c.is_good ? width_of(c.code) : 1;
    begin += c.bytes;
  }
  return std::string(signs.cut) + std::string(text.substr(begin));
}

int Row::end() const {
  return pieces.empty() ? 0 : pieces.back().column + width_of(pieces.back().text);
}

void Row::add_at(int column, std::string text, Style style) {
  if (!text.empty()) pieces.push_back({column, std::move(text), style});
}

std::string Row::text() const {
  std::string line;
  int at = 0;
  for (auto const& piece : pieces) {
    line.append(static_cast<std::size_t>(std::max(0, piece.column - at)), ' ');
    line += piece.text;
    at = piece.column + width_of(piece.text);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string text_of(Rows const& rows) {
  std::string text;
  for (auto const& row : rows) text += row.text() + '\n';
  return text;
}

}  // namespace nigh::cli::top
