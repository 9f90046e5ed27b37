// SPDX-License-Identifier: Apache-2.0
#include "coordinator/client/status.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "coordinator/protocol/codec.hpp"
#include "platform/local_socket.hpp"

namespace nigh::coordinator {
namespace {

// A coordinator that refuses this process says why and closes without reading the question: the
// system reports that first.
int receive(int socket, std::span<std::byte> into) {
  int const size = platform::receive_bytes(socket, into);
  return size == -ECONNRESET ? platform::receive_bytes(socket, into) : size;
}

result<Status> ask(int socket, std::uint32_t program, int patience_ms) {
  int const failed = platform::send_message(socket, encode(ProgramMessage{Query{program}}).bytes());
  if (failed != 0 && failed != -EPIPE && failed != -ECONNRESET)
    return error{std::strerror(-failed)};
  std::array<std::byte, largest_message> bytes;
  int size = receive(socket, bytes);
  if (size == -EAGAIN && platform::wait_until_readable(socket, patience_ms))
    size = receive(socket, bytes);
  if (size == -EAGAIN) return error{"it does not answer"};
  if (size == 0) return error{"it closed the connection"};
  if (size < 0) return error{std::strerror(-size)};
  if (size > static_cast<int>(bytes.size())) return error{"its answer is no message of nigh's"};
  auto const arrived = std::span(bytes).first(static_cast<std::size_t>(size));
  auto const decoded = decode_from_coordinator(arrived);
  if (auto const* const wrong = std::get_if<DecodeError>(&decoded)) {
    if (*wrong == DecodeError::foreign_version)
      return error{"it speaks version " + std::to_string(version_in(arrived)) +
                   " of the protocol, and this nigh version " + std::to_string(protocol_version)};
    return error{"its answer is " + std::string(to_string(*wrong))};
  }
  auto const& message = std::get<CoordinatorMessage>(decoded);
  if (auto const* const status = std::get_if<Status>(&message)) return *status;
  auto const* const refusal = std::get_if<Refusal>(&message);
  if (refusal != nullptr && refusal->reason == Refusal::Reason::too_many_programs)
    return error{"it serves as many programs as it may"};
  return error{"it refuses"};
}

result<HostStatus> ask_all(int socket, int patience_ms) {
  HostStatus all;
  for (std::uint32_t next = 0;;) {
    auto const status = ask(socket, next, patience_ms);
    if (!status) return status.to_error();
    all.host = *status;
    if (status->program == 0) return all;
    all.programs.push_back(*status);
    next = status->program + 1;
    if (next == 0) return all;
  }
}

}  // namespace

result<HostStatus> query_status(std::string const& socket, int patience_ms) {
  int const connection = platform::connect_local(socket.c_str());
  if (connection < 0) return error{std::strerror(-connection)};
  auto all = ask_all(connection, patience_ms);
  platform::close_descriptor(connection);
  return all;
}

}  // namespace nigh::coordinator
