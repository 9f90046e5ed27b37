// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cpus of one region, from the coordinator's answer to the pinning of threads; or, for people,
// the reason why there are none.

#include <cstdint>

namespace nigh::coordinator {

enum class FallbackReason : std::uint8_t {
  none,              // the region has cpus
  no_coordinator,    // none is there, or it did not let the program in
  foreign_version,   // the coordinator speaks another version of the protocol
  no_answer,         // the coordinator ended, or was silent for two seconds
  refused,           // within the last second: this program has all that one may have
  too_many_threads,  // more threads begin regions than the shared page has slots
  unplaced,          // no cpu was free within its patience
};
inline constexpr int fallback_reasons = 7;

constexpr char const* to_string(FallbackReason why) noexcept {
  switch (why) {
    case FallbackReason::none:
      break;
    case FallbackReason::no_coordinator:
      return "no coordinator";
    case FallbackReason::foreign_version:
      return "the coordinator speaks another version";
    case FallbackReason::no_answer:
      return "the coordinator did not answer";
    case FallbackReason::refused:
      return "the coordinator refused";
    case FallbackReason::too_many_threads:
      return "too many threads begin regions";
    case FallbackReason::unplaced:
      return "others held the cpus";
  }
  return "";
}

// The cpus belong to the LeaseClient that returned the value, and stay until its next call.
struct GrantedTeam {
  std::uint16_t const* cpus = nullptr;  // the leader's first, in the order of the threads
  std::uint32_t size = 0;               // 0: run as without a coordinator
  // Changes when the cpus of this client do, but not with the size alone: threads are pinned again
  // only then.
  std::uint32_t version = 0;
  bool is_to_be_timed = false;  // leave() must be told how long the region took, however short
  bool floats = false;          // external load runs on these cpus, too: threads are not bound
  FallbackReason fallback = FallbackReason::no_coordinator;  // with size 0: why
};

}  // namespace nigh::coordinator
