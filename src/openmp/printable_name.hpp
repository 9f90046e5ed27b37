// SPDX-License-Identifier: Apache-2.0
#pragma once
// The program's name for people: it may be any bytes, and a terminal obeys some of them.

#include <errno.h>

#include <cstddef>
#include <string_view>

#include "base/printable.hpp"

namespace nigh::openmp {

// Fit for a line; long names are cut.
class PrintableName {
 public:
  explicit PrintableName(std::string_view name) noexcept {
    constexpr char const* digits = "0123456789abcdef";
    std::size_t at = 0;
    constexpr std::size_t longest_part = 4;  // a character, or an escape
    while (!name.empty() && at + longest_part < sizeof text_) {
      auto const c = base::first_character(name);
      auto const part = name.substr(0, c.bytes);
      name.remove_prefix(c.bytes);
      if (c.is_printable) {
        at += part.copy(text_ + at, part.size());
        continue;
      }
      for (char const byte : part) {
        if (at + longest_part >= sizeof text_) break;
        auto const value = static_cast<unsigned char>(byte);
        text_[at++] = '\\';
        text_[at++] = 'x';
        text_[at++] = digits[value >> 4];
        text_[at++] = digits[value & 15];
      }
    }
  }
  char const* text() const noexcept { return text_; }

 private:
  char text_[256] = {};
};

inline PrintableName printable_name() noexcept {
  return PrintableName(program_invocation_short_name);
}

}  // namespace nigh::openmp
