// SPDX-License-Identifier: Apache-2.0
#include "platform/network.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace nigh::platform {
namespace {

template <class Address>
NetworkAddress from(Address const& address, bool is_v6) {
  NetworkAddress found{{}, is_v6};
  static_assert(sizeof address <= sizeof found.bytes);
  std::memcpy(found.bytes.data(), &address, sizeof address);
  return found;
}

}  // namespace

std::vector<NetworkAddress> network_addresses() {
  std::vector<NetworkAddress> found;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  for (ifaddrs const* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
    if ((one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    if (one->ifa_addr->sa_family == AF_INET) {
      sockaddr_in v4{};
      std::memcpy(&v4, one->ifa_addr, sizeof v4);
      found.push_back(from(v4.sin_addr, false));
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 v6{};
      std::memcpy(&v6, one->ifa_addr, sizeof v6);
      if (!IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr)) found.push_back(from(v6.sin6_addr, true));
    }
  }
  ::freeifaddrs(all);
  return found;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

std::string network_name() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  struct stat space{};
  if (::stat("/proc/self/ns/net", &space) != 0) return boot;
  return boot + ':' + std::to_string(space.st_dev) + ':' + std::to_string(space.st_ino);
}

}  // namespace nigh::platform
