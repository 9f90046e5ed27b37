// SPDX-License-Identifier: Apache-2.0
#pragma once
// A connection to a neighbour in the ring, and its messages: frames of one size.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "cluster/watch/ring.hpp"

namespace nigh::cluster {

// Ranks run one program, so all of them have the same layout of these bytes.
struct Frame {
  // The accepting rank says which rank it is (greeting), the connecting rank takes one of the
  // connections it could make (choice); ring messages follow.
  enum class Kind : std::uint32_t { greeting, choice, ring };
  static constexpr std::uint32_t first_word = 0x6867'696e;  // "nigh"

  std::uint32_t mark = first_word;
  Kind kind = Kind::greeting;
  std::uint64_t job = 0;  // in greetings and choices; a choice's is secret
  std::int32_t rank = 0;
  RingMessage::Kind said = RingMessage::Kind::beat;
  RingLoss loss{};
};
static_assert(std::is_trivially_copyable_v<Frame> && sizeof(Frame) == 40);

class Link {
 public:
  Link() noexcept = default;
  explicit Link(int socket) noexcept : socket_(socket) {}
  Link(Link&& from) noexcept;
  Link& operator=(Link&& from) noexcept;
  ~Link();

  bool is_open() const noexcept { return socket_ >= 0; }
  int socket() const noexcept { return socket_; }

  // Sent as soon as there is room. A beat is left out when others wait already.
  void send(Frame const& frame) noexcept;
  void flush() noexcept;
  bool is_flushed() const noexcept { return waiting_count_ == 0; }

  // The next message that has arrived.
  std::optional<Frame> receive() noexcept;
  // Nothing will arrive any more: the other side has ended, or is no rank of ours.
  bool has_ended() const noexcept { return ended_; }

  // We have sent everything; what the other side sends still arrives.
  void end_sending() noexcept;
  void close() noexcept;

 private:
  int socket_ = -1;
  bool ended_ = false;
  // Beats do not queue up, and other messages are few.
  std::array<std::byte, 8 * sizeof(Frame)> waiting_{};
  std::size_t waiting_count_ = 0;
  std::array<std::byte, sizeof(Frame)> arriving_{};
  std::size_t arrived_ = 0;  // of them
};

}  // namespace nigh::cluster
