// SPDX-License-Identifier: Apache-2.0
#pragma once
// What this host is called on the network, and under which addresses others reach it.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace nigh::platform {

struct NetworkAddress {
  std::array<std::uint8_t, 16> bytes{};  // of an IPv4 address the first four
  std::uint32_t is_v6 = 0;
  bool operator==(NetworkAddress const&) const = default;
};

inline constexpr NetworkAddress loopback_address{{127, 0, 0, 1}, 0};

// Of the interfaces that are up, without loopback and those that mean something on one link only.
std::vector<NetworkAddress> network_addresses();

std::string host_name();

// The same for two processes if, and only if, they share a network: host and namespace.
std::string network_name();

}  // namespace nigh::platform
