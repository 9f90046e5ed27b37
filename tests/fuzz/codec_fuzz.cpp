// SPDX-License-Identifier: Apache-2.0
// Any bytes at all for the decoder: it neither crashes nor reads beyond them, and what it takes for
// a message is written as the same bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <variant>

#include "coordinator/protocol/codec.hpp"
#include "fuzz/messages_played.hpp"

namespace {

template <class Message, class Decoded>
void check(std::span<std::byte const> bytes, Decoded const& decoded) {
  auto const* const message = std::get_if<Message>(&decoded);
  if (message == nullptr) return;
  auto const frame = nigh::coordinator::encode(*message);
  if (!std::equal(bytes.begin(), bytes.end(), frame.bytes().begin(), frame.bytes().end()))
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  ++fuzz::messages_played;
  auto const bytes = std::as_bytes(std::span(data, size));
  check<nigh::coordinator::ProgramMessage>(bytes, nigh::coordinator::decode_from_program(bytes));
  check<nigh::coordinator::CoordinatorMessage>(bytes,
                                               nigh::coordinator::decode_from_coordinator(bytes));
  return 0;
}
