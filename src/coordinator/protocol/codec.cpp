// SPDX-License-Identifier: Apache-2.0
#include "coordinator/protocol/codec.hpp"

#include <bit>
#include <cstring>
#include <utility>

namespace nigh::coordinator {
namespace {

constexpr std::uint32_t magic = 'n' | 'i' << 8 | 'g' << 16 | 'h' << 24;

struct Header {
  std::uint32_t magic = coordinator::magic;
  std::uint16_t version = protocol_version;
  std::uint16_t kind = 0;
  std::uint32_t size = 0;
  std::uint32_t zero = 0;

  template <class Wire, class Self>
  static void layout(Wire& wire, Self& m) {
    wire(m.magic);
    wire(m.version);
    wire(m.kind);
    wire(m.size);
    wire(m.zero);
  }
};

// The unsigned number for an integer or enumerator of the same size.
template <class Part>
using Bits = std::conditional_t<
    sizeof(Part) == 1, std::uint8_t,
    std::conditional_t<sizeof(Part) == 2, std::uint16_t,
                       std::conditional_t<sizeof(Part) == 4, std::uint32_t, std::uint64_t>>>;

// Numbers that are in memory as they travel, one after the other.
template <class Part>
constexpr bool is_as_it_travels = false;
template <class Number, std::size_t size>
constexpr bool is_as_it_travels<std::array<Number, size>> =
    std::is_integral_v<Number> && std::endian::native == std::endian::little;

struct Writer {
  std::byte* to;

  template <class Part>
  void operator()(Part const& part) noexcept {
    if constexpr (std::is_integral_v<Part> || std::is_enum_v<Part>) {
      auto const bits = std::uint64_t{static_cast<Bits<Part>>(part)};
      for (std::size_t i = 0; i < sizeof(Part); ++i)
        *to++ = static_cast<std::byte>(bits >> (8 * i) & 0xff);
    } else if constexpr (is_as_it_travels<Part>) {
      std::memcpy(to, part.data(), sizeof part);
      to += sizeof part;
    } else if constexpr (requires { Part::layout(*this, part); }) {
      Part::layout(*this, part);
    } else {
      for (auto const& element : part) (*this)(element);
    }
  }
};

// Its caller has checked that there are bytes enough.
struct Reader {
  std::byte const* from;

  template <class Part>
  void operator()(Part& part) noexcept {
    if constexpr (std::is_integral_v<Part> || std::is_enum_v<Part>) {
      std::uint64_t bits = 0;
      for (std::size_t i = 0; i < sizeof(Part); ++i)
        bits |= std::to_integer<std::uint64_t>(*from++) << (8 * i);
      part = static_cast<Part>(static_cast<Bits<Part>>(bits));
    } else if constexpr (is_as_it_travels<Part>) {
      std::memcpy(part.data(), from, sizeof part);
      from += sizeof part;
    } else if constexpr (requires { Part::layout(*this, part); }) {
      Part::layout(*this, part);
    } else {
      for (auto& element : part) (*this)(element);
    }
  }
};

// Its caller has checked that there are bytes enough.
Header header_of(std::span<std::byte const> bytes) noexcept {
  Header header;
  Reader reader{bytes.data()};
  Header::layout(reader, header);
  return header;
}

template <class M, class Message>
std::variant<Message, DecodeError> decode_as(std::span<std::byte const> bytes) noexcept {
  if (bytes.size() != wire_size<M>()) return DecodeError::wrong_size;
  M message;
  Reader reader{bytes.data() + header_size};
  M::layout(reader, message);
  if (!message.is_valid()) return DecodeError::wrong_value;
  return Message{message};
}

template <class... M>
std::variant<std::variant<M...>, DecodeError> decode_any(std::span<std::byte const> bytes,
                                                         std::variant<M...> const*) noexcept {
  using Message = std::variant<M...>;
  if (bytes.size() < header_size) return DecodeError::wrong_size;
  auto const header = header_of(bytes);
  if (header.magic != magic) return DecodeError::not_nigh;
  if (header.version != protocol_version) return DecodeError::foreign_version;
  if (header.size != bytes.size()) return DecodeError::wrong_size;
  if (header.zero != 0) return DecodeError::wrong_value;
  std::variant<Message, DecodeError> decoded = DecodeError::unknown_kind;
  static_cast<void>(
      ((header.kind == M::kind && (decoded = decode_as<M, Message>(bytes), true)) || ...));
  return decoded;
}

}  // namespace

struct Encoder {
  template <class M>
  Frame operator()(M const& message) const noexcept {
    NIGH_ASSERT(message.is_valid(), "a message that is sent is in order");
    Frame frame;
    frame.size_ = wire_size<M>();
    Writer writer{frame.bytes_.data()};
    Header const header{.kind = M::kind, .size = static_cast<std::uint32_t>(frame.size_)};
    Header::layout(writer, header);
    M::layout(writer, message);
    return frame;
  }
};

Frame encode(ProgramMessage const& message) noexcept { return std::visit(Encoder{}, message); }
Frame encode(CoordinatorMessage const& message) noexcept { return std::visit(Encoder{}, message); }

std::variant<ProgramMessage, DecodeError> decode_from_program(
    std::span<std::byte const> bytes) noexcept {
  return decode_any(bytes, static_cast<ProgramMessage const*>(nullptr));
}
std::variant<CoordinatorMessage, DecodeError> decode_from_coordinator(
    std::span<std::byte const> bytes) noexcept {
  return decode_any(bytes, static_cast<CoordinatorMessage const*>(nullptr));
}

std::uint16_t version_in(std::span<std::byte const> bytes) noexcept {
  if (bytes.size() < header_size) return 0;
  auto const header = header_of(bytes);
  return header.magic == magic ? header.version : std::uint16_t{0};
}

std::string_view to_string(DecodeError e) noexcept {
  switch (e) {
    case DecodeError::wrong_size:
      return "not as long as such a message is";
    case DecodeError::not_nigh:
      return "no message of nigh's";
    case DecodeError::foreign_version:
      return "of another version of the protocol";
    case DecodeError::unknown_kind:
      return "of a kind that is not known here";
    case DecodeError::wrong_value:
      break;
  }
  return "a value is out of its range";
}

}  // namespace nigh::coordinator
