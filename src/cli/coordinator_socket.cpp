// SPDX-License-Identifier: Apache-2.0
#include "cli/coordinator_socket.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "platform/local_socket.hpp"
#include "platform/service.hpp"

namespace nigh::cli {

std::string coordinator_socket() {
  if (char const* const told = std::getenv("NIGH_SOCKET"); told != nullptr && *told != '\0')
    return told;
  constexpr char const* of_the_system = "/run/nigh/nighd.sock";
  std::error_code ignored;
  if (std::filesystem::is_socket(of_the_system, ignored)) return of_the_system;
  return platform::private_directory() / "nighd.sock";
}

std::string no_coordinator(std::string const& socket, std::string const& why) {
  int const connection = platform::connect_local(socket.c_str());
  if (connection >= 0) platform::close_descriptor(connection);
  bool const is_nobody_there = connection == -ENOENT || connection == -ECONNREFUSED;
  return "no coordinator at " + socket + ": " + why +
         (is_nobody_there ? "; nighd starts one" : "");
}

}  // namespace nigh::cli
