// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why a region runs as without a coordinator, for people.

#include <cstdint>

namespace nigh::coordinator {

enum class FallbackReason : std::uint8_t {
  none,              // it has cpus
  no_coordinator,    // none is there, or none was let in by
  foreign_version,   // the one that is there speaks another version of the protocol
  no_answer,         // there was one, until it ended or was silent for two seconds
  refused,           // within the last second: it has given this program all that one may have
  too_many_threads,  // begin regions
  unplaced,          // no cpu was free for it, for as long as it would wait
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

}  // namespace nigh::coordinator
