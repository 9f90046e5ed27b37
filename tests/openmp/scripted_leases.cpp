// SPDX-License-Identifier: Apache-2.0
// A coordinator that does as it is told: NIGH_TEST_LEASES is a list of leases such as "0,1;1;-",
// each master's next ones, over and over; "-" is none, "!" a refusal, and one with "~" is not to be
// bound to. It is read again at its end.
// Without it, there is no coordinator. NIGH_TEST_PROGRAMS is how many programs it serves, as thread
// pools are told.

#include <stdlib.h>

#include <new>

#include "openmp/leases.hpp"

namespace nigh::openmp {

class Leases {
 public:
  Lease next() {
    char const* const text = getenv("NIGH_TEST_LEASES");
    if (text == nullptr || *text == '\0') return {};
    if (at_ == nullptr || *at_ == '\0') at_ = text;
    std::uint32_t size = 0;
    bool floats = false;
    auto without = coordinator::FallbackReason::no_coordinator;
    while (*at_ != ';' && *at_ != '\0') {
      if ('0' <= *at_ && *at_ <= '9' && size < 64) {
        cpus_[size++] = static_cast<std::uint16_t>(strtol(at_, const_cast<char**>(&at_), 10));
        continue;
      }
      if (*at_ == '!') without = coordinator::FallbackReason::refused;
      floats |= *at_++ == '~';
    }
    if (*at_ == ';') ++at_;
    return {cpus_, size, ++version_, false, floats, without};
  }

 private:
  char const* at_ = nullptr;
  std::uint16_t cpus_[64] = {};
  std::uint32_t version_ = 0;
};

Leases* new_leases(coordinator::CpuSet const&) noexcept {
  void* const room = malloc(sizeof(Leases));
  return room != nullptr ? new (room) Leases : nullptr;
}
void end(Leases* leases) noexcept { free(leases); }
Lease enter(Leases& leases, coordinator::RegionId, coordinator::Demand) noexcept {
  return leases.next();
}
void leave(Leases&, std::uint64_t) noexcept {}
std::uint32_t programs_served() noexcept { return 1; }
std::uint32_t programs_served_now() noexcept {
  char const* const text = getenv("NIGH_TEST_PROGRAMS");
  return text != nullptr ? static_cast<std::uint32_t>(atoi(text)) : 0;
}
void join_coordinator(coordinator::CpuSet const&) noexcept {}
bool begin_closing(unsigned, unsigned) noexcept { return false; }
void end_closing() noexcept {}
void drop_all() noexcept {}

}  // namespace nigh::openmp
