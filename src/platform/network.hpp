// SPDX-License-Identifier: Apache-2.0
#pragma once
// The name of this host on the network, and the addresses under which others reach it.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace nigh::platform {

struct NetworkAddress {
  std::array<std::uint8_t, 16> bytes{};  // an IPv4 address uses the first four
  std::uint32_t is_v6 = 0;
  bool operator==(NetworkAddress const&) const = default;
};

inline constexpr NetworkAddress loopback_address{{127, 0, 0, 1}, 0};

// Addresses of the interfaces that are up, except loopback and addresses valid on one link only.
std::vector<NetworkAddress> network_addresses();

std::string host_name();

// The same for two processes if, and only if, they share a network: host and namespace.
std::string network_name();

}  // namespace nigh::platform
