// SPDX-License-Identifier: Apache-2.0
// In the place of src/openmp/connection.cpp and of LeaseClient: a coordinator that does as it is
// told. NIGH_TEST_LEASES is a list of leases such as "0,1;1;-", each thread's next ones, over and
// over; "-" is none, "!" a refusal, and one with "~" is not to be bound to. It is read again at its
// end. Without it, there is no coordinator. A region whose tasks nigh runs takes the next one each
// 100 ms. NIGH_TEST_PROGRAMS is how many programs it serves, as
// thread pools are told.

#include <stdlib.h>

#include <new>

#include "openmp/connection.hpp"

namespace nigh::coordinator {
namespace {

// Never used: a script has no connection.
alignas(ClientConnection) constinit unsigned char room[sizeof(ClientConnection)]{};

class Script final : public LeaseClient {
 public:
  Script() noexcept : LeaseClient(reinterpret_cast<ClientConnection&>(room)) {}

  GrantedTeam next() noexcept {
    char const* const text = getenv("NIGH_TEST_LEASES");
    if (text == nullptr || *text == '\0') return {};
    if (at_ == nullptr || *at_ == '\0') at_ = text;
    now_ = 1 - now_;
    std::uint32_t size = 0;
    bool floats = false;
    auto fallback = FallbackReason::no_coordinator;
    while (*at_ != ';' && *at_ != '\0') {
      if ('0' <= *at_ && *at_ <= '9' && size < 64) {
        cpus_[now_][size++] = static_cast<std::uint16_t>(strtol(at_, const_cast<char**>(&at_), 10));
        continue;
      }
      if (*at_ == '!') fallback = FallbackReason::refused;
      floats |= *at_++ == '~';
    }
    if (*at_ == ';') ++at_;
    return {cpus_[now_], size, ++version_, false, floats, fallback};
  }

 private:
  char const* at_ = nullptr;
  std::uint16_t cpus_[2][64] = {};
  std::uint32_t now_ = 0;
  std::uint32_t version_ = 0;
};

}  // namespace

LeaseClient::LeaseClient(ClientConnection& connection) noexcept : connection_(connection) {}
LeaseClient::~LeaseClient() = default;
GrantedTeam LeaseClient::enter(RegionId, Demand) noexcept {
  return static_cast<Script&>(*this).next();
}
LeaseClient::Entered LeaseClient::entered() const noexcept { return {}; }
void LeaseClient::leave(std::uint64_t) noexcept {}
GrantedTeam LeaseClient::exchange(RegionId, Demand, std::int64_t) noexcept {
  return static_cast<Script&>(*this).next();
}

}  // namespace nigh::coordinator

namespace nigh::openmp {

LeaseClient* new_lease_client(coordinator::CpuSet const&) noexcept {
  void* const memory = malloc(sizeof(coordinator::Script));
  return memory != nullptr ? new (memory) coordinator::Script : nullptr;
}
void end(LeaseClient* client) noexcept { free(client); }
std::uint32_t programs_served() noexcept { return 1; }
std::uint32_t programs_served_now() noexcept {
  char const* const text = getenv("NIGH_TEST_PROGRAMS");
  return text != nullptr ? static_cast<std::uint32_t>(atoi(text)) : 0;
}
void join_coordinator(coordinator::CpuSet const&) noexcept {}
void renew_allowed(coordinator::CpuSet const&) noexcept {}
bool begin_closing(unsigned, unsigned) noexcept { return false; }
void end_closing() noexcept {}
void drop_connection() noexcept {}

}  // namespace nigh::openmp
