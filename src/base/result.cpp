// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <nigh/result.hpp>

namespace nigh::detail {

#ifdef NIGH_OTHER_STANDARD_LIBRARY
char const NIGH_OTHER_STANDARD_LIBRARY = 0;
#endif

void no_value(error const& e) {
  std::fprintf(stderr, "nigh: a result that holds an error was read: %s\n", e.message.c_str());
  std::abort();
}

}  // namespace nigh::detail
