// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program's name for people: short, and harmless on a terminal.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace nigh::coordinator {

class Name {
 public:
  constexpr Name() = default;
  // Cut to fit, at a character's beginning; control characters become question marks.
  constexpr explicit Name(std::string_view text) {
    auto length = std::min(text.size(), bytes_.size() - 1);
    if (length < text.size())
      while (length > 0 && is_continuation(text[length])) --length;
    for (std::size_t i = 0; i < length; ++i) bytes_[i] = is_control(text[i]) ? '?' : text[i];
  }

  constexpr std::string_view view() const noexcept {
    auto const end = std::find(bytes_.begin(), bytes_.end(), '\0');
    return {bytes_.data(), static_cast<std::size_t>(end - bytes_.begin())};
  }
  // Ends within its bytes, with zeros after it, and has no control characters.
  constexpr bool is_valid() const noexcept {
    auto const length = view().size();
    auto const end = bytes_.begin() + static_cast<std::ptrdiff_t>(length);
    return length < bytes_.size() && std::none_of(bytes_.begin(), end, is_control) &&
           std::all_of(end, bytes_.end(), [](char c) { return c == '\0'; });
  }
  bool operator==(Name const&) const = default;

  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.bytes_);
  }

 private:
  static constexpr bool is_control(char c) noexcept {
    auto const code = static_cast<unsigned char>(c);
    return code < 0x20 || code == 0x7f;
  }
  static constexpr bool is_continuation(char c) noexcept {
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
  }

  std::array<char, 48> bytes_{};
};
static_assert(Name("a\tb").view() == "a?b" && Name("a\tb").is_valid());

}  // namespace nigh::coordinator
