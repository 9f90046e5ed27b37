// SPDX-License-Identifier: Apache-2.0
#include "cli/top/frame.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/printable.hpp"

namespace nigh::cli::top {
namespace {

int columns_of(char32_t code) {
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
    auto const c = base::first_character(text.substr(at));
    width += c.is_printable ? columns_of(c.code) : 1;
    at += c.bytes;
  }
  return width;
}

std::string printable(std::string_view text, Signs const& signs) {
  std::string clean;
  for (std::size_t at = 0; at < text.size();) {
    auto const c = base::first_character(text.substr(at));
    bool const shows = c.is_printable && (signs.any_letter || c.code < 0x80);
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
    auto const c = base::first_character(text.substr(end));
    used += c.is_printable ? columns_of(c.code) : 1;
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
    auto const c = base::first_character(text.substr(begin));
    left -= c.is_printable ? columns_of(c.code) : 1;
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
