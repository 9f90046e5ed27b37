// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long ranks that are listened to have said nothing. Only time that was listened to counts: at
// most a tenth of the limit from one look to the next. So who had no cpu for a while, was stopped or
// did something else does not take its own absence for that of others; it looks again when it has
// heard what waited for it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nigh::cluster {

class Silence {
 public:
  // limit_ns 0: nobody is silent.
  Silence(int ranks, std::int64_t limit_ns)
      : limit_ns_(limit_ns), quiet_ns_(static_cast<std::size_t>(ranks), 0) {}

  void heard(int rank) noexcept { quiet_ns_[static_cast<std::size_t>(rank)] = 0; }

  // Those of ranks [first, last) who have been silent for too long; each look tells of them anew.
  std::vector<int> listen(int first, int last, std::int64_t now_ns) {
    if (limit_ns_ == 0) return {};
    auto const passed = has_looked_ ? std::min(now_ns - looked_at_ns_, limit_ns_ / 10) : 0;
    has_looked_ = true;
    looked_at_ns_ = now_ns;
    std::vector<int> silent;
    for (int r = first; r < last; ++r)
      if ((quiet_ns_[static_cast<std::size_t>(r)] += passed) >= limit_ns_) silent.push_back(r);
    return silent;
  }

 private:
  std::int64_t const limit_ns_;
  std::vector<std::int64_t> quiet_ns_;  // [rank]
  bool has_looked_ = false;
  std::int64_t looked_at_ns_ = 0;
};

}  // namespace nigh::cluster
