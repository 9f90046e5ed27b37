// SPDX-License-Identifier: Apache-2.0
// Placed arrays: what holds on any host, and rules on machines that are not this one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <nigh/array.hpp>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/memory_limits.hpp"
#include "platform/pages.hpp"

namespace {

using nigh::array;
using nigh::placement;
using nigh::topology;
using testing::HasSubstr;

constexpr std::size_t page = 4096;

topology synthetic(char const* description) {
  auto machine = topology::from_synthetic(description);
  EXPECT_TRUE(machine.ok()) << machine.message();
  return std::move(machine).value();
}

std::vector<placement> every_rule() {
  return {placement::first_touch(), placement::interleave(), placement::bind(0),
          placement::blocked(7), placement::cyclic(1000)};
}

std::size_t pages_somewhere(nigh::page_report const& r) {
  return std::accumulate(r.pages_of_domain.begin(), r.pages_of_domain.end(), r.elsewhere);
}

TEST(Array, IsZeroAndKeepsWhatIsWritten) {
  for (bool const huge : {false, true})
    for (auto const rule : every_rule()) {
      array<long> a(100'000, rule, {.huge_pages = huge});
      ASSERT_EQ(a.size(), 100'000u);
      EXPECT_EQ(a.rule(), rule);
      EXPECT_EQ(std::count(a.begin(), a.end(), 0), 100'000);
      std::iota(a.begin(), a.end(), 1L);
      EXPECT_EQ(a[99'999], 100'000);
      EXPECT_EQ(std::accumulate(a.begin(), a.end(), 0L), 100'000L * 100'001 / 2);
    }
}

TEST(Array, OfNothing) {
  array<double> const none;
  array<double> const zero(0, placement::blocked());
  for (auto const* a : {&none, &zero}) {
    EXPECT_TRUE(a->empty());
    EXPECT_EQ(a->begin(), a->end());
    EXPECT_EQ(a->domain_of(0), -1);
    EXPECT_EQ(a->report().pages, 0u);
    EXPECT_EQ(a->report().note, "");
  }
}

TEST(Array, MovesWithoutMovingItsElements) {
  auto const machine = synthetic("pack:2 numa:1 core:2 pu:1");
  array<int> a(4 * page, placement::blocked(), {.machine = &machine});
  a[5] = 7;
  int const* const data = a.data();

  array<int> b(std::move(a));
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(b[5], 7);
  EXPECT_EQ(b.domain_of(4 * page - 1), 1);
  EXPECT_EQ(nigh::domain_of(data + 4 * page - 1, machine), 1);
  EXPECT_TRUE(a.empty());  // NOLINT: what a moved-from array promises
  EXPECT_EQ(a.data(), nullptr);
  EXPECT_EQ(a.report().pages, 0u);

  array<int> c(10);
  c = std::move(b);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(c.size(), 4 * page);
  EXPECT_EQ(nigh::domain_of(data, machine), 0);
  c = array<int>();
  EXPECT_EQ(nigh::domain_of(data, machine), -1);  // gone, and the kernel is not asked about others
}

TEST(Array, SaysWhenItsBytesOverflow) {
  for (std::size_t const count : {SIZE_MAX, SIZE_MAX / 8 + 1, SIZE_MAX / 16 + 1}) try {
      array<double> const a(count);
      FAIL() << count;
    } catch (std::length_error const& e) {
      EXPECT_THAT(e.what(), HasSubstr(std::to_string(count)));
    }
}

TEST(Array, SaysHowMuchMemoryWasAskedAndIsThere) {
  std::size_t const bytes = std::size_t{1} << 46;
  try {
    array<char> const a(bytes);
    FAIL();
  } catch (std::bad_alloc const& e) {
    EXPECT_THAT(e.what(), HasSubstr(std::to_string(bytes) + " bytes asked"));
    EXPECT_THAT(e.what(), HasSubstr("bytes available"));
  }
  EXPECT_THROW(array<char>(std::size_t{1} << 62), std::bad_alloc);
}

TEST(Array, MemoryPromisedToAnotherArrayIsNotAvailable) {
  auto const most = nigh::platform::available_bytes() / 10 * 7;
  std::optional<array<char>> first(most);  // not touched, so the kernel still has it all
  EXPECT_THROW(array<char>{most}, std::bad_alloc);
  first.reset();
  EXPECT_NO_THROW(array<char>{most});
}

TEST(Array, SaysWhatIsWrongWithARule) {
  auto const machine = synthetic("pack:2 numa:1 core:2 pu:1");
  nigh::array_options const there{.machine = &machine};
  for (int const absent : {-1, 2, 1'000'000}) try {
      array<int> const a(10, placement::bind(absent), there);
      FAIL();
    } catch (std::invalid_argument const& e) {
      EXPECT_THAT(e.what(), HasSubstr("bind(" + std::to_string(absent) + ")"));
    }
  EXPECT_THROW(array<int>(10, placement::cyclic(0), there), std::invalid_argument);
  EXPECT_THROW(array<int>(10, placement::blocked(0), there), std::invalid_argument);
  EXPECT_THROW(array<int>(0, placement::cyclic(0), there), std::invalid_argument);
}

TEST(Array, ReportsPagesWhenTheyAreTouched) {
  array<char> a(10 * page + 1);
  auto const before = a.report();
  ASSERT_EQ(before.note, "") << "the kernel of this host does not tell where pages are";
  auto const base_page = before.page_bytes;
  EXPECT_EQ(before.pages, (10 * page + 1 + base_page - 1) / base_page);
  EXPECT_EQ(before.untouched, before.pages);
  EXPECT_EQ(pages_somewhere(before), 0u);
  for (char& c : a) c = 1;
  auto const after = a.report();
  EXPECT_EQ(after.untouched, 0u);
  EXPECT_EQ(pages_somewhere(after), after.pages);
  EXPECT_EQ(after.misplaced, 0u);
  EXPECT_EQ(nigh::placement_report(a).pages, after.pages);
}

TEST(Array, AReadOfUntouchedMemoryGetsNoPage) {
  array<char> const a(page);
  char const volatile* const p = a.data();
  EXPECT_EQ(*p, 0);
  EXPECT_EQ(a.report().untouched + pages_somewhere(a.report()), a.report().pages);
}

TEST(Array, OnAnotherMachineRulesAnswerAndMemoryIsLeftAlone) {
  auto const machine = synthetic("pack:4 numa:1 core:2 pu:1");
  std::size_t const n = 8 * page;
  array<char> const blocked(n, placement::blocked(), {.machine = &machine});
  array<char> const cyclic(n, placement::cyclic(page), {.machine = &machine});
  array<char> const bound(n, placement::bind(3), {.machine = &machine});
  array<char> const untold(n, placement::first_touch(), {.machine = &machine});
  for (std::size_t i = 0; i < n; i += page / 2) {
    auto const p = static_cast<int>(i / page);
    EXPECT_EQ(blocked.domain_of(i), p / 2);
    EXPECT_EQ(cyclic.domain_of(i), p % 4);
    EXPECT_EQ(bound.domain_of(i), 3);
    EXPECT_EQ(untold.domain_of(i), -1);
  }
  EXPECT_THAT(blocked.report().note, HasSubstr("another machine"));
  EXPECT_EQ(blocked.report().untouched, blocked.report().pages);
  EXPECT_EQ(untold.report().note, "");
}

TEST(Array, TouchedPagesOfAnotherMachineAreElsewhere) {
  auto const machine = synthetic("pack:4 numa:1 core:2 pu:1");
  array<char> a(3 * page, placement::blocked(), {.machine = &machine});
  std::fill(a.begin(), a.end(), '1');
  auto const report = a.report();
  EXPECT_EQ(report.elsewhere, report.pages);
  EXPECT_EQ(report.misplaced, 0u);
  EXPECT_THAT(report.pages_of_domain, testing::ElementsAre(0, 0, 0, 0));
}

TEST(DomainOf, FindsTheArrayAPointerLiesIn) {
  auto const machine = synthetic("pack:4 numa:1 core:2 pu:1");
  std::vector<array<char>> arrays;
  for (int d = 0; d < 200; ++d)
    arrays.emplace_back(page + 1, placement::bind(d % 4), nigh::array_options{.machine = &machine});
  for (int d = 0; d < 200; d += 3) {
    auto const& a = arrays[static_cast<std::size_t>(d)];
    EXPECT_EQ(nigh::domain_of(a.data()), d % 4);
    EXPECT_EQ(nigh::domain_of(a.data() + page), d % 4);
    EXPECT_EQ(nigh::domain_of(a.data() + page, machine), d % 4);
    EXPECT_EQ(nigh::domain_of(a.data() + page + 1, machine), -1);  // behind its end
  }
  arrays.erase(arrays.begin(), arrays.begin() + 100);
  EXPECT_EQ(nigh::domain_of(arrays.front().data(), machine), 100 % 4);
  int local = 0;
  EXPECT_EQ(nigh::domain_of(&local, machine), -1);
  EXPECT_EQ(nigh::domain_of(nullptr, machine), -1);
}

TEST(DomainOf, AnswersInTheNumbersOfTheMachineAskedFor) {
  auto const machine = synthetic("pack:4 numa:1 core:2 pu:1");
  auto const fewer = machine.restricted_to(std::vector<int>{4, 5, 6, 7});  // domains 2 and 3
  ASSERT_TRUE(fewer.ok()) << fewer.message();
  ASSERT_EQ(fewer->domains()[0].os_node, 2);
  array<char> const a(4 * page, placement::blocked(), {.machine = &machine});
  for (int d = 0; d < 4; ++d) {
    char const* const p = a.data() + static_cast<std::size_t>(d) * page;
    EXPECT_EQ(nigh::domain_of(p), d);
    EXPECT_EQ(nigh::domain_of(p, *fewer), fewer->domain_of_os_node(d));
  }
}

TEST(DomainOf, AsksTheKernelAboutOtherMemory) {
  std::vector<char> touched(4 * page, 1);
  int const domain = nigh::domain_of(touched.data() + page);
  ASSERT_GE(domain, 0);
  EXPECT_LT(domain, static_cast<int>(nigh::this_host().domains().size()));
}

TEST(Migrate, SaysWhyItCannot) {
  auto const elsewhere = synthetic("pack:2 numa:1 core:2 pu:1");
  array<char> a(3 * page);
  std::span<char> const all(a.begin(), a.end());
  EXPECT_THAT(nigh::migrate(all, 1, elsewhere).message(), HasSubstr("another machine"));
  EXPECT_THAT(nigh::migrate(all, -1).message(), HasSubstr("no domain -1"));
  EXPECT_THAT(nigh::migrate(all, 1'000'000).message(), HasSubstr("no domain 1000000"));
  EXPECT_TRUE(nigh::migrate(all.first(0), 0).ok());
}

TEST(Migrate, ToTheOnlyDomainOrTheFirstKeepsWhatIsThere) {
  array<int> a(4 * page, placement::first_touch());
  std::iota(a.begin(), a.end(), 0);
  auto const moved = nigh::migrate(std::span(a.data() + 10, 2 * page), 0);
  ASSERT_TRUE(moved.ok()) << moved.message();
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i], static_cast<int>(i));
}

}  // namespace
