// SPDX-License-Identifier: Apache-2.0
#include "cli/coordinator_socket.hpp"

#include <cstdlib>
#include <filesystem>

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

}  // namespace nigh::cli
