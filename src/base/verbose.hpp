// SPDX-License-Identifier: Apache-2.0
#pragma once
// May nigh say on standard error what it noticed? NIGH_VERBOSE, which nigh run -v sets.

#include <cstdlib>
#include <string_view>

namespace nigh::base {

inline bool is_verbose() {
  char const* const said = std::getenv("NIGH_VERBOSE");
  return said != nullptr && *said != '\0' && std::string_view(said) != "0";
}

}  // namespace nigh::base
