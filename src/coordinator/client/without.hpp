// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why a region runs as without a coordinator, for people.

#include <cstdint>

namespace nigh::coordinator {

enum class Without : std::uint8_t {
  nothing,           // it has cpus
  no_coordinator,    // none is there, or none was let in by
  foreign_version,   // the one that is there speaks another version of the protocol
  no_answer,         // there was one, until it ended or was silent for two seconds
  refused,           // within the last second: it has given this program all that one may have
  too_many_threads,  // begin regions
  unplaced,          // no cpu was free for it, for as long as it would wait
};
inline constexpr int reasons_for_without = 7;

constexpr char const* to_string(Without why) noexcept {
  switch (why) {
    case Without::nothing:
      break;
    case Without::no_coordinator:
      return "no coordinator";
    case Without::foreign_version:
      return "the coordinator speaks another version";
    case Without::no_answer:
      return "the coordinator did not answer";
    case Without::refused:
      return "the coordinator refused";
    case Without::too_many_threads:
      return "too many threads begin regions";
    case Without::unplaced:
      return "others held the cpus";
  }
  return "";
}

}  // namespace nigh::coordinator
