// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far is a rank's clock from rank 0's?
//
// All ranks tell each other the time, by a collective call that no rank leaves before all have
// entered it. So this rank left later than the time at which rank 0 entered, and entered before
// rank 0 left. Each call bounds the difference from both sides, and the narrowest bounds of several
// calls are kept: the result is never farther off than it says, whatever the network does.

#include <cstdint>
#include <functional>

#include "cluster/transport.hpp"

namespace nigh::cluster {

struct ClockOffset {
  std::int64_t to_rank_0_ns = 0;  // to be added to this rank's time
  std::int64_t error_ns = 0;      // at most this much
};

// Collective.
ClockOffset compare_clocks(Transport& network, std::function<std::int64_t()> const& now_ns);

}  // namespace nigh::cluster
