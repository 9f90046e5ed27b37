// SPDX-License-Identifier: Apache-2.0
// The effects of keys on the view of nigh top.
#include <gtest/gtest.h>

#include <string>

#include "cli/top/view.hpp"

namespace nigh::cli::top {
namespace {

using coordinator::Name;
using coordinator::Status;
using Kind = Key::Kind;

class TopKeys : public testing::Test {
 protected:
  // Twenty programs, p01 to p20; the later, the more cpus, and p05 in a region of its own.
  TopKeys() {
    sample.status.emplace();
    for (std::uint32_t n = 1; n <= 20; ++n) {
      Status p;
      p.program = n;
      p.pid = 1000 + n;
      p.name = Name((n < 10 ? "p0" : "p") + std::to_string(n));
      p.held = n;
      sample.status->programs.push_back(p);
    }
    sample.regions[5] = "Kernel.cpp:7";
    follow(view, sample, rows);
  }
  Wish key(Key k) {
    auto const wish = press(view, k, sample, {rows, rows});
    follow(view, sample, rows);
    return wish;
  }
  Wish key(Kind k) { return key(Key{k}); }
  void type(std::string const& text) {
    for (char c : text) key(Key::of(c));
  }

  static constexpr int rows = 6;
  Sample sample;
  View view;
};

TEST_F(TopKeys, MoveTheCursorAndTheRowsWithIt) {
  EXPECT_EQ(view.chosen, 1u);
  key(Kind::down);
  EXPECT_EQ(view.chosen, 2u);
  key(Kind::page_down);
  EXPECT_EQ(view.chosen, 8u);
  EXPECT_EQ(view.first_program, 2);
  key(Kind::end);
  EXPECT_EQ(view.chosen, 20u);
  EXPECT_EQ(view.first_program, 14);
  key(Kind::down);
  EXPECT_EQ(view.chosen, 20u);
  key(Kind::page_up);
  EXPECT_EQ(view.chosen, 14u);
  key(Kind::home);
  key(Kind::up);
  EXPECT_EQ(view.chosen, 1u);
  EXPECT_EQ(view.first_program, 0);
}

TEST_F(TopKeys, TheCursorStaysWithItsProgram) {
  key(Kind::down), key(Kind::down);
  sample.status->programs.erase(sample.status->programs.begin());
  follow(view, sample, rows);
  EXPECT_EQ(view.chosen, 3u);
  sample.status->programs.erase(sample.status->programs.begin() + 1);
  follow(view, sample, rows);
  EXPECT_EQ(view.chosen, 4u) << "or goes to who stands there then";
  sample.status.reset();
  follow(view, sample, rows);
  EXPECT_EQ(key(Kind::down), Wish::nothing);
}

TEST_F(TopKeys, ChooseTheColumnToSortBy) {
  key(Key::of('>')), key(Key::of('>'));
  EXPECT_EQ(view.order.by, Column::cpus);
  EXPECT_EQ(programs_in_order(sample, view.order, {})[0]->program, 20u) << "the largest first";
  key(Key::of('I'));
  EXPECT_EQ(programs_in_order(sample, view.order, {})[0]->program, 1u);
  key(Key::of('<'));
  EXPECT_EQ(view.order.by, Column::program);
  key(Key::of('<')), key(Key::of('<'));
  EXPECT_EQ(view.order.by, Column::pid) << "which is the first";
}

TEST_F(TopKeys, F6ListsTheColumns) {
  key(Key::f(6));
  ASSERT_TRUE(view.sort_menu);
  key(Kind::end), key(Kind::up);
  key(Kind::enter);
  EXPECT_FALSE(view.sort_menu);
  EXPECT_EQ(view.order.by, Column::energy);
  key(Key::f(6)), key(Kind::home), key(Kind::escape);
  EXPECT_EQ(view.order.by, Column::energy);
}

TEST_F(TopKeys, SearchMovesTheCursor) {
  key(Key::f(3));
  type("P1");  // small letters, too
  EXPECT_EQ(view.chosen, 10u);
  key(Key::f(3));
  EXPECT_EQ(view.chosen, 11u) << "the next one";
  type("x");
  EXPECT_EQ(view.notice, "no such program");
  key(Kind::backspace);
  key(Kind::enter);
  EXPECT_FALSE(view.prompt);
  key(Key::of('/'));
  type("kernel");
  EXPECT_EQ(view.chosen, 5u) << "by region";
}

TEST_F(TopKeys, FilterShowsOnlySome) {
  key(Key::f(4));
  type("2");
  key(Kind::enter);
  EXPECT_EQ(view.filter, "2");
  EXPECT_EQ(programs_in_order(sample, view.order, view.filter).size(), 3u);
  EXPECT_EQ(view.chosen, 2u);
  key(Key::of('\\'));
  type("zzz");
  EXPECT_TRUE(programs_in_order(sample, view.order, view.filter).empty());
  key(Kind::down);
  key(Kind::escape);
  EXPECT_EQ(view.filter, "");
}

TEST_F(TopKeys, TheDelayIsAskedFor) {
  EXPECT_EQ(key(Key::of('d')), Wish::nothing);
  type("0.25");
  key(Kind::enter);
  EXPECT_EQ(view.delay_s, 0.25);
  for (char const* wrong : {"", "0", "-1", "1e9", "soon", "nan"}) {
    key(Key::of('s'));
    type(wrong);
    key(Kind::enter);
    EXPECT_EQ(view.delay_s, 0.25) << wrong;
    EXPECT_FALSE(view.notice.empty()) << wrong;
  }
}

TEST_F(TopKeys, ShowHelpOneOfTheParts) {
  key(Key::f(1));
  EXPECT_TRUE(view.shows_help);
  EXPECT_EQ(key(Key::of('q')), Wish::nothing) << "any key leads back";
  EXPECT_FALSE(view.shows_help);
  key(Key::of('t'));
  EXPECT_EQ(view.show, Show::machine);
  key(Kind::page_down);
  EXPECT_EQ(view.first_machine, rows);
  EXPECT_EQ(view.chosen, 1u);
  key(Key::f(5));
  EXPECT_EQ(view.show, Show::programs);
  key(Key::f(5));
  EXPECT_EQ(view.show, Show::both);
}

TEST_F(TopKeys, LeaveAndNeverKill) {
  EXPECT_EQ(key(Key::of('q')), Wish::quit);
  EXPECT_EQ(key(Key::f(10)), Wish::quit);
  EXPECT_EQ(key(Key::of(' ')), Wish::look_again);
  EXPECT_EQ(key(Key::f(9)), Wish::nothing);
  EXPECT_FALSE(view.notice.empty());
  key(Key::of('k'));
  EXPECT_FALSE(view.notice.empty());
  for (int n : {0, 2, 7, 8, 11, 12, 99}) EXPECT_EQ(key(Key::f(n)), Wish::nothing);
}

}  // namespace
}  // namespace nigh::cli::top
