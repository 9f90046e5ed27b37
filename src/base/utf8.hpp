// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts of others that should be UTF-8: names of programs may be any bytes.

#include <cstddef>
#include <string_view>

namespace nigh::base {

// Length of the UTF-8 character that the text begins with; 0: it begins with none. The text is not
// empty.
constexpr std::size_t utf8_character(std::string_view text) {
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned const first = byte(0);
  std::size_t const n = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (n == 0 || n > text.size()) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  bool const overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  bool const surrogate = first == 0xed && byte(1) >= 0xa0;
  bool const beyond = first == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond ? 0 : n;
}

}  // namespace nigh::base
