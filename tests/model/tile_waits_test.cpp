// SPDX-License-Identifier: Apache-2.0
#include "loops/tile_waits.hpp"

#include <array>
#include <memory>

#include "letters.hpp"

namespace nigh::model {
namespace {

constexpr std::array<std::optional<int>, 1> two_before{2};

struct Shared {
  loops::TileWaits waits{two_before};
  std::array<Plain, 2> written;
  int runs = 0;
};

// Two tiles end at once; one of those who ran them goes on with the tile above, overwrites one of
// them and reads the other.
Scenario two_below() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    auto const tile = [s](std::size_t which) {
      s->written[which].set(1);
      if (!s->waits.count_down(0)) return;
      ++s->runs;
      check(s->written[0].get() == 1, "what the left one wrote is there");
      s->written[1].set(3);
    };
    run.threads = {[tile] { tile(0); }, [tile] { tile(1); }};
    run.at_end = [s] { check(s->runs == 1, "the tile above is run once"); };
  };
}

TEST(TileWaits, TheLastOneSeesWhatAllHaveWritten) { expect_holds(two_below()); }
TEST(TileWaits, T) {
  expect_needed("tile_waits.T", Order::relaxed, two_below());
  expect_needed("tile_waits.T", Order::release, two_below());
  expect_needed("tile_waits.T", Order::acquire, two_below());
}

}  // namespace
}  // namespace nigh::model
