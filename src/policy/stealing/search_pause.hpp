// SPDX-License-Identifier: Apache-2.0
#pragma once
// SearchPause: how long does a thief rest after a round of attempts on other hosts that brought
// nothing?
//
// Asking another host keeps both interfaces busy, so that unlucky thieves slow down the ranks that
// have work to give. Rests double from round to round up to a limit, which bounds how late new work
// is noticed; there is none before the first round has failed.

#include <algorithm>
#include <cstdint>

namespace nigh::policy {

struct SearchPause {
  std::int64_t first_ns = 0;  // 0: no rests at all
  std::int64_t most_ns = 0;
};

constexpr std::int64_t search_pause_ns(int failed_rounds, SearchPause p) noexcept {
  if (failed_rounds <= 0 || p.first_ns <= 0) return 0;
  int const doublings = std::min(failed_rounds - 1, 30);
  return p.first_ns >= p.most_ns >> doublings ? p.most_ns : p.first_ns << doublings;
}
static_assert(search_pause_ns(0, {1000, 8000}) == 0 && search_pause_ns(1, {1000, 8000}) == 1000);
static_assert(search_pause_ns(3, {1000, 8000}) == 4000 && search_pause_ns(9, {1000, 8000}) == 8000);
static_assert(search_pause_ns(5, {}) == 0);

}  // namespace nigh::policy
