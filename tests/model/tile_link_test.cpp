// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nigh/detail/tile_link.hpp>

#include "letters.hpp"

namespace nigh::model {
namespace {

using detail::tile_link;

struct Shared {
  tile_link link;
  Plain element = 7, sum, value, next, result;
  int passed = 0, scanned = 0;

  void pass_on() {
    ++passed;
    next.set(value.get() + sum.get());
    check(next.get() == 12, "it sees the value and the sum");
  }
  void scan() {
    ++scanned;
    check(value.get() == 5, "it sees the value");
    element.set(value.get());  // in place: the owner has read it
  }
};

// The value comes while the owner sums up, looks so many times, and hands over.
Scenario meeting(int looks) {
  return [looks](OneRun& run) {
    auto s = std::make_shared<Shared>();
    auto const owner = [s, looks] {
      if (s->link.is_known()) {
        s->sum.set(s->element.get());
        s->pass_on();
        return s->scan();
      }
      s->sum.set(s->element.get());
      if (s->link.add_sum()) {
        s->pass_on();
        return s->scan();
      }
      for (int i = 0; i < looks; ++i)
        if (s->link.is_known()) return s->scan();
      if (s->link.hand_over()) s->scan();
    };
    auto const passer = [s] {
      s->value.set(5);
      auto const found = s->link.add_value();
      if (found != tile_link::found::nothing) s->pass_on();
      if (found == tile_link::found::handed_over) s->scan();
    };
    run.threads = {owner, passer};
    run.at_end = [s] {
      check(s->passed == 1, "one of them passes on");
      check(s->scanned == 1, "one of them scans");
    };
  };
}

TEST(TileLink, OnePassesOnAndOneScans) {
  for (int const looks : {0, 1, 2}) expect_holds(meeting(looks), {.preemptions = 3});
}
TEST(TileLink, A) {
  expect_needed("tile_link.A", Order::relaxed, meeting(1));
  expect_needed("tile_link.A", Order::acquire, meeting(1));
  expect_needed("tile_link.A", Order::release, meeting(1));
}
TEST(TileLink, B) { expect_needed("tile_link.B", Order::relaxed, meeting(0)); }

}  // namespace
}  // namespace nigh::model
