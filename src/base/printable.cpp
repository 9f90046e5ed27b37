// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"

#include <algorithm>
#include <iterator>

#include "base/utf8.hpp"

namespace nigh::base {
namespace {

struct Span {
  char32_t first, last;
};
// Controls, marks of direction, characters without width or ink that join, change or hide others,
// and tags.
constexpr Span unprintable[] = {
    {0, 0x1f},         {0x7f, 0x9f},     {0xad, 0xad},     {0x34f, 0x34f},     {0x61c, 0x61c},
    {0x115f, 0x1160},  {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f},  {0x2800, 0x2800}, {0x3164, 0x3164}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
    {0xffa0, 0xffa0},  {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0x1d173, 0x1d17a}, {0xe0000, 0xe007f},
    {0xe0100, 0xe01ef}};

void add_digits(std::string& to, char32_t code, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    to += "0123456789abcdef"[code >> shift & 15];
}

void add_escape(std::string& to, FirstCharacter const& c) {
  if (c.code == '\n') {
    to += "\\n";
  } else if (c.code == '\t') {
    to += "\\t";
  } else if (c.code == '\r') {
    to += "\\r";
  } else if (!c.is_utf8 || c.code < 0x20) {
    to += "\\x";
    add_digits(to, c.code, 2);
  } else if (c.code < 0x10000) {
    to += "\\u";
    add_digits(to, c.code, 4);
  } else {
    auto const rest = c.code - 0x10000;
    to += "\\u";
    add_digits(to, 0xd800 + (rest >> 10), 4);
    to += "\\u";
    add_digits(to, 0xdc00 + (rest & 0x3ff), 4);
  }
}

std::string escaped(std::string_view text, bool has_lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    auto const c = first_character(text);
    if (c.is_printable || (has_lines && (c.code == '\n' || c.code == '\t')))
      out += text.substr(0, c.bytes);
    else
      add_escape(out, c);
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace

FirstCharacter first_character(std::string_view text) {
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto const bytes = utf8_character(text);
  if (bytes == 0) return {.code = byte(0)};
  char32_t code = bytes == 1 ? byte(0) : byte(0) & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) code = code << 6 | (byte(i) & 0x3fU);
  bool const hides = std::any_of(std::begin(unprintable), std::end(unprintable),
                                 [&](Span s) { return s.first <= code && code <= s.last; });
  return {.code = code, .bytes = bytes, .is_utf8 = true, .is_printable = !hides};
}

std::string printable(std::string_view text) { return escaped(text, false); }
std::string printable_lines(std::string_view text) { return escaped(text, true); }

}  // namespace nigh::base
