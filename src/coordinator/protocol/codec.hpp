// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages as bytes.
//
//   0  4  "nigh"
//   4  2  version          the first eight bytes mean the same in every version
//   6  2  kind
//   8  4  size of the whole message, fixed by its kind
//  12  4  0
//  16     the members in the order of layout(), little-endian, without padding
//
// A reader trusts nothing: bytes are a message only if all of this holds, every value is in its
// range, and nothing follows. So there is one way to write each message, and encoding a decoded
// message gives the same bytes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

#include "coordinator/protocol/message.hpp"

namespace nigh::coordinator {

inline constexpr std::size_t header_size = 16;

namespace detail {

// Walks over a layout and adds up its sizes.
struct ByteCount {
  std::size_t bytes = 0;

  template <class Part>
  constexpr void operator()(Part const& part) {
    if constexpr (std::is_integral_v<Part> || std::is_enum_v<Part>) {
      bytes += sizeof(Part);
    } else if constexpr (requires { Part::layout(*this, part); }) {
      Part::layout(*this, part);
    } else {
      for (auto const& element : part) (*this)(element);
    }
  }
};

}  // namespace detail

template <class M>
constexpr std::size_t wire_size() noexcept {
  detail::ByteCount count;
  M const message{};
  M::layout(count, message);
  return header_size + count.bytes;
}
// These numbers and the order of members define the protocol: a change is a new version.
static_assert(wire_size<Register>() == 221 && wire_size<Request>() == 52);
static_assert(wire_size<Claim>() == 2086 && wire_size<Release>() == 24);
static_assert(wire_size<Report>() == 40 && wire_size<Query>() == 20);
static_assert(wire_size<Welcome>() == 24 && wire_size<Grant>() == 2083);
static_assert(wire_size<Revoke>() == 25 && wire_size<Refusal>() == 21);
static_assert(wire_size<Status>() == 494 && wire_size<Advice>() == 40);
static_assert(wire_size<Unplaced>() == 20);

inline constexpr std::size_t largest_message = wire_size<Claim>();

// The bytes of one message, with room for any.
class Frame {
 public:
  std::span<std::byte const> bytes() const noexcept { return {bytes_.data(), size_}; }

 private:
  friend struct Encoder;
  std::array<std::byte, largest_message> bytes_;
  std::size_t size_ = 0;
};

// A message that is not valid is the caller's bug.
Frame encode(ProgramMessage const& message) noexcept;
Frame encode(CoordinatorMessage const& message) noexcept;

enum class DecodeError : std::uint8_t {
  wrong_size,       // shorter than a header, or not the size of its kind
  not_nigh,         // some other protocol
  foreign_version,  // of this protocol
  unknown_kind,     // or one that the other side sends
  wrong_value,      // out of its range
};
std::string_view to_string(DecodeError e) noexcept;

// The version that these bytes name, when they begin like a message of any version; otherwise 0.
std::uint16_t version_in(std::span<std::byte const> bytes) noexcept;

// All of `bytes` must be one message.
std::variant<ProgramMessage, DecodeError> decode_from_program(
    std::span<std::byte const> bytes) noexcept;
std::variant<CoordinatorMessage, DecodeError> decode_from_coordinator(
    std::span<std::byte const> bytes) noexcept;

}  // namespace nigh::coordinator
