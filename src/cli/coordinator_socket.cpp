// SPDX-License-Identifier: Apache-2.0
#include "cli/coordinator_socket.hpp"

#include <cerrno>
#include <cstdlib>

#include "platform/local_socket.hpp"
#include "platform/service.hpp"

namespace nigh::cli {

std::string coordinator_socket() {
  if (char const* const told = std::getenv("NIGH_SOCKET"); told != nullptr && *told != '\0')
    return told;
  constexpr char const* of_the_system = "/run/nigh/nighd.sock";
  int const connection = platform::connect_local(of_the_system);
  if (connection >= 0) platform::close_descriptor(connection);
  bool const is_there = connection >= 0 || connection == -EAGAIN;
  return is_there ? of_the_system : platform::private_directory() / "nighd.sock";
}

std::string no_coordinator(std::string const& socket, std::string const& why) {
  int const connection = platform::connect_local(socket.c_str());
  if (connection >= 0) platform::close_descriptor(connection);
  bool const is_nobody_there = connection == -ENOENT || connection == -ECONNREFUSED;
  return "no coordinator at " + socket + ": " + why +
         (is_nobody_there ? "; the command nighd starts one" : "");
}

}  // namespace nigh::cli
