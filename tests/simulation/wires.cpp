// SPDX-License-Identifier: Apache-2.0
// Reads what programs and the server tell each other, to know what has been seen.
#include <variant>

#include "coordinator/protocol/codec.hpp"
#include "simulation/kernel.hpp"

namespace simulation {

using namespace nigh::coordinator;

namespace {
constexpr std::array<char const*, std::variant_size_v<CoordinatorMessage>> names_of_answers{
    "sends Welcome to %1", "sends Grant to %1",  "sends Revoke to %1",  "sends Refusal to %1",
    "sends Status to %1",  "sends Advice to %1", "sends Unplaced to %1"};
}  // namespace

void Kernel::note_sent(Socket const& from, std::span<std::byte const> bytes) {
  if (&self() == server) {
    auto const decoded = decode_from_coordinator(bytes);
    if (auto const* const message = std::get_if<CoordinatorMessage>(&decoded))
      world->log(names_of_answers[message->index()], from.process);
    return;
  }
  if (bytes.size() != wire_size<Release>()) return;
  auto const decoded = decode_from_program(bytes);
  auto const* const message = std::get_if<ProgramMessage>(&decoded);
  auto const* const release = message != nullptr ? std::get_if<Release>(message) : nullptr;
  if (release == nullptr || release->lease != self().last_grant) return;
  if (self().last_grant_at == world->now()) world->saw(Seen::late_grant_returned);
}

void Kernel::note_received(Socket const& at, std::span<std::byte const> bytes) {
  if (&self() != server) {
    if (bytes.size() != wire_size<Grant>()) return;
    auto const decoded = decode_from_coordinator(bytes);
    auto const* const message = std::get_if<CoordinatorMessage>(&decoded);
    auto const* const grant = message != nullptr ? std::get_if<Grant>(message) : nullptr;
    if (grant == nullptr) return;
    self().last_grant = grant->lease;
    self().last_grant_at = world->now();
    return;
  }
  if (bytes.size() == wire_size<Claim>()) world->saw(Seen::claimed);
  if (bytes.size() != wire_size<Request>()) return;
  auto const decoded = decode_from_program(bytes);
  auto const* const message = std::get_if<ProgramMessage>(&decoded);
  auto const* const request = message != nullptr ? std::get_if<Request>(message) : nullptr;
  if (request != nullptr && request->patience_us == 0) on_patient_request(at.process);
}

}  // namespace simulation
