// SPDX-License-Identifier: Apache-2.0
// Placed memory where there is more than one domain: only ever run in the guest, one suite for each
// machine (see CMakeLists.txt). The kernel is asked here directly, not through nigh.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nigh/array.hpp>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "denied_call.hpp"

namespace {

using nigh::array;
using nigh::placement;
using nigh::test::without_call;
using testing::Each;
using testing::HasSubstr;

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;

// The NUMA node of each page; negative: an error number.
std::vector<int> nodes_of(array<char> const& a) {
  std::vector<void*> pages;
  for (std::size_t i = 0; i < a.size(); i += page) pages.push_back(const_cast<char*>(&a[i]));
  std::vector<int> nodes(pages.size());
  EXPECT_EQ(::syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, nodes.data(), 0), 0);
  return nodes;
}

std::vector<int> nodes_by_rule(array<char> const& a) {
  std::vector<int> nodes;
  for (std::size_t i = 0; i < a.size(); i += page)
    nodes.push_back(nigh::this_host().domains()[static_cast<std::size_t>(a.domain_of(i))].os_node);
  return nodes;
}

std::vector<int> nodes_where(std::size_t pages, std::function<int(std::size_t page)> const& node) {
  std::vector<int> nodes(pages);
  for (std::size_t p = 0; p < pages; ++p) nodes[p] = node(p);
  return nodes;
}

void write_all(array<char>& a) { std::fill(a.begin(), a.end(), '1'); }

void on_cpu(int cpu, std::function<void()> const& f) {
  std::thread([&] {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<std::size_t>(cpu), &only);
    ASSERT_EQ(::sched_setaffinity(0, sizeof only, &only), 0);
    f();
  }).join();
}

void expect_as_ruled(array<char> const& a, std::string const& note = "") {
  EXPECT_EQ(nodes_of(a), nodes_by_rule(a));
  auto const report = a.report();
  EXPECT_EQ(report.misplaced, 0u);
  EXPECT_EQ(report.untouched, 0u);
  EXPECT_EQ(report.elsewhere, 0u);
  if (note.empty())
    EXPECT_EQ(report.note, "");
  else
    EXPECT_THAT(report.note, HasSubstr(note));
}

// ---- 4 domains of 2 cpus, node d has cpus 2d and 2d + 1

struct MemoryOn4x2 : testing::Test {
  void SetUp() override {
    ASSERT_EQ(nigh::this_host().domains().size(), 4u);
    ASSERT_EQ(nigh::this_host().cpu_domains(), 4);
    for (int d = 0; d < 4; ++d)
      ASSERT_EQ(nigh::this_host().domains()[static_cast<std::size_t>(d)].os_node, d);
  }
};

TEST_F(MemoryOn4x2, FirstTouchIsWhereTheWriterRan) {
  array<char> a(40 * page);
  for (int cpu : {0, 2, 4, 7})
    on_cpu(cpu, [&] {
      for (std::size_t p = 0; p < 10; ++p)
        a[(static_cast<std::size_t>(cpu) / 2 * 10 + p) * page] = 1;
    });
  EXPECT_EQ(nodes_of(a), nodes_where(40, [](std::size_t p) { return static_cast<int>(p / 10); }));
  EXPECT_THAT(a.report().pages_of_domain, Each(10));
  EXPECT_EQ(a.domain_of(0), -1);
  for (std::size_t p = 0; p < 40; ++p)
    EXPECT_EQ(nigh::domain_of(&a[p * page + 5]), static_cast<int>(p / 10));  // the kernel's answer
}

TEST_F(MemoryOn4x2, BindPutsAllInOneDomain) {
  for (int d = 0; d < 4; ++d) {
    array<char> a(100 * page + 1, placement::bind(d));
    write_all(a);
    EXPECT_THAT(nodes_of(a), Each(d));
    EXPECT_EQ(nodes_of(a).size(), 101u);
    expect_as_ruled(a);
  }
}

TEST_F(MemoryOn4x2, InterleaveDealsOutPages) {
  std::vector<array<char>> arrays;  // all alive, so that they lie at different addresses modulo 4
  for (int n = 0; n < 8; ++n) {
    array<char>& a = arrays.emplace_back(1001 * page, placement::interleave());
    write_all(a);
    EXPECT_EQ(nodes_of(a),
              nodes_where(1001, [](std::size_t p) { return static_cast<int>(p % 4); }));
    expect_as_ruled(a);
  }
}

TEST_F(MemoryOn4x2, BlockedGivesEachDomainOneBlock) {
  array<char> a(400 * page, placement::blocked());
  write_all(a);
  EXPECT_EQ(nodes_of(a), nodes_where(400, [](std::size_t p) { return static_cast<int>(p / 100); }));
  expect_as_ruled(a);
  array<char> odd(397 * page + 123, placement::blocked(1000));
  write_all(odd);
  expect_as_ruled(odd);
}

TEST_F(MemoryOn4x2, CyclicDealsOutPieces) {
  array<char> a(4000 * page, placement::cyclic(3 * page));
  write_all(a);
  EXPECT_EQ(nodes_of(a),
            nodes_where(4000, [](std::size_t p) { return static_cast<int>(p / 3 % 4); }));
  expect_as_ruled(a);
  array<char> odd(997 * page + 123, placement::cyclic(10'000));  // pieces that share pages
  write_all(odd);
  expect_as_ruled(odd);
}

TEST_F(MemoryOn4x2, MoreSmallPiecesThanTheKernelBindsAreTouchedFromTheirDomains) {
  array<char> a(9000 * page, placement::cyclic(page));
  expect_as_ruled(a, "too many for the kernel");
  EXPECT_EQ(nodes_of(a), nodes_where(9000, [](std::size_t p) { return static_cast<int>(p % 4); }));
}

TEST_F(MemoryOn4x2, RefusedBindingFallsBackToTouchingFromTheDomains) {
  for (int const reason : {EPERM, ENOSYS})
    without_call(SYS_mbind, reason, [] {
      for (auto const rule : {placement::bind(3), placement::interleave(), placement::blocked(),
                              placement::cyclic(5 * page)}) {
        array<char> const a(2000 * page, rule);
        expect_as_ruled(a, "mbind refused");
      }
    });
}

TEST_F(MemoryOn4x2, HugePagesAreWholeAndWhereTheRuleSays) {
  for (auto const rule : {placement::bind(2), placement::interleave(), placement::blocked(),
                          placement::cyclic(huge_page)}) {
    array<char> a(16 * huge_page, rule, {.huge_pages = true});
    write_all(a);
    expect_as_ruled(a);
  }
}

TEST_F(MemoryOn4x2, MigrationMovesWhatIsThereAndWhatIsYetToCome) {
  array<char> a(100 * page);
  on_cpu(0, [&] { std::fill(a.begin(), a.begin() + 60 * page, '7'); });
  // From inside page 10 to inside page 79.
  auto const moved = nigh::migrate(std::span(a.data() + 10 * page + 5, 69 * page), 3);
  ASSERT_TRUE(moved.ok()) << moved.message();
  on_cpu(0, [&] { std::fill(a.begin() + 60 * page, a.end(), '8'); });
  EXPECT_EQ(nodes_of(a), nodes_where(100, [](std::size_t p) { return p >= 10 && p < 80 ? 3 : 0; }));
  EXPECT_EQ(std::count(a.begin(), a.end(), '7'), 60 * static_cast<long>(page));
  EXPECT_EQ(nigh::domain_of(&a[20 * page]), 3);

  array<char> ruled(40 * page, placement::blocked());
  write_all(ruled);
  ASSERT_TRUE(nigh::migrate(std::span(ruled.data(), 10 * page), 1).ok());
  EXPECT_EQ(ruled.domain_of(0), 0);  // the rule stays
  EXPECT_EQ(ruled.report().misplaced, 10u);
}

TEST_F(MemoryOn4x2, RefusedMigrationSaysWhyAndMovesNothing) {
  array<char> a(10 * page);
  on_cpu(0, [&] { write_all(a); });
  without_call(SYS_mbind, EPERM, [&] {
    auto const moved = nigh::migrate(std::span(a.data(), a.size()), 2);
    EXPECT_FALSE(moved.ok());
    EXPECT_THAT(moved.message(), HasSubstr("mbind refused: Operation not permitted"));
  });
  EXPECT_THAT(nodes_of(a), Each(0));
}

TEST_F(MemoryOn4x2, AFullDomainLetsPagesGoToTheNextInsteadOfKilling) {
  std::size_t const more_than_a_node =
      nigh::this_host().domains()[1].memory_bytes + 100 * huge_page / 4;
  array<char> a(more_than_a_node / page * page, placement::bind(1));
  for (std::size_t i = 0; i < a.size(); i += page) a[i] = 1;
  auto const report = a.report();
  EXPECT_EQ(report.untouched, 0u);
  EXPECT_GT(report.pages_of_domain[1], report.pages / 2);
  EXPECT_GT(report.misplaced, 0u);
}

TEST_F(MemoryOn4x2, ANumberOfDomainsOfARestrictedViewIsItsOwn) {
  auto const fewer = nigh::this_host().restricted_to(std::vector<int>{4, 5, 6, 7});
  ASSERT_TRUE(fewer.ok()) << fewer.message();
  array<char> a(40 * page, placement::blocked(), {.machine = &*fewer});
  write_all(a);
  EXPECT_EQ(nodes_of(a), nodes_where(40, [](std::size_t p) { return p < 20 ? 2 : 3; }));
  EXPECT_EQ(a.report().misplaced, 0u);
  EXPECT_EQ(a.domain_of(0), 0);
  EXPECT_EQ(nigh::domain_of(a.data(), nigh::this_host()), 2);
}

// ---- the same with huge pages given unasked, which must not swallow small pieces

using MemoryWithHugePagesAlways = MemoryOn4x2;

TEST_F(MemoryWithHugePagesAlways, EveryRuleHoldsPageByPage) {
  for (auto const rule : {placement::interleave(), placement::blocked(),
                          placement::cyclic(7 * page), placement::cyclic(page)}) {
    array<char> a(10'001 * page, rule);
    write_all(a);
    EXPECT_EQ(nodes_of(a), nodes_by_rule(a));
  }
  without_call(SYS_mbind, EPERM, [] {
    for (auto const rule :
         {placement::interleave(), placement::blocked(), placement::cyclic(7 * page)}) {
      array<char> const a(10'001 * page, rule);
      EXPECT_EQ(nodes_of(a), nodes_by_rule(a));
    }
  });
}

TEST_F(MemoryWithHugePagesAlways, MigrationMovesAtMostOneHugePageMoreAtEachBorder) {
  array<char> a(8 * huge_page, placement::bind(0));
  write_all(a);
  std::size_t const first = 700, behind = 2900;  // pages: neither lies on a huge page's border
  ASSERT_TRUE(nigh::migrate(std::span(&a[first * page], (behind - first) * page), 2).ok());
  auto const nodes = nodes_of(a);
  for (std::size_t p = first; p < behind; ++p) ASSERT_EQ(nodes[p], 2) << p;
  for (std::size_t p = 0; p < first - 511; ++p) ASSERT_EQ(nodes[p], 0) << p;
  for (std::size_t p = behind + 511; p < nodes.size(); ++p) ASSERT_EQ(nodes[p], 0) << p;
}

// ---- 2 domains of 2 cpus, and node 2 with memory alone

struct MemoryOnly : testing::Test {
  void SetUp() override {
    ASSERT_EQ(nigh::this_host().domains().size(), 3u);
    ASSERT_EQ(nigh::this_host().cpu_domains(), 2);
    ASSERT_EQ(nigh::this_host().domains()[2].os_node, 2);
  }
};

TEST_F(MemoryOnly, TakesWhatIsBoundThere) {
  array<char> a(100 * page, placement::bind(2));
  write_all(a);
  EXPECT_THAT(nodes_of(a), Each(2));
  expect_as_ruled(a);
  EXPECT_EQ(nigh::domain_of(a.data()), 2);
}

TEST_F(MemoryOnly, HasNoPartInRulesOverDomains) {
  for (auto const rule :
       {placement::interleave(), placement::blocked(), placement::cyclic(2 * page)}) {
    array<char> a(100 * page, rule);
    write_all(a);
    expect_as_ruled(a);
    EXPECT_THAT(a.report().pages_of_domain, testing::ElementsAre(50, 50, 0));
  }
}

TEST_F(MemoryOnly, CannotBeTouchedFromItselfAndSaysSo) {
  without_call(SYS_mbind, EPERM, [] {
    array<char> const a(100 * page, placement::bind(2));
    auto const report = a.report();
    EXPECT_THAT(report.note, HasSubstr("mbind refused"));
    EXPECT_THAT(report.note, HasSubstr("domain 2 has no cpu"));
    EXPECT_EQ(report.untouched, 100u);
  });
}

TEST_F(MemoryOnly, PagesMigrateThereAndBack) {
  array<char> a(100 * page, placement::blocked());
  write_all(a);
  ASSERT_TRUE(nigh::migrate(std::span(a.data(), a.size()), 2).ok());
  EXPECT_THAT(nodes_of(a), Each(2));
  ASSERT_TRUE(nigh::migrate(std::span(a.data(), a.size()), 0).ok());
  EXPECT_THAT(nodes_of(a), Each(0));
}

// ---- 4 x 2, allowed cpus 2-5: nodes 1 and 2

TEST(MemoryInACpuset, GoesToTheDomainsWhoseCpusAreAllowed) {
  auto const& host = nigh::this_host();
  ASSERT_EQ(host.cpu_domains(), 2);
  for (auto const rule :
       {placement::interleave(), placement::blocked(), placement::cyclic(2 * page)}) {
    array<char> a(100 * page, rule);
    write_all(a);
    expect_as_ruled(a);
    auto const nodes = nodes_of(a);
    EXPECT_EQ(std::count(nodes.begin(), nodes.end(), 1), 50);
    EXPECT_EQ(std::count(nodes.begin(), nodes.end(), 2), 50);
    without_call(SYS_mbind, EPERM, [&] {
      array<char> const touched(100 * page, rule);
      expect_as_ruled(touched, "mbind refused");
    });
  }
}

// ---- 4 x 2, memory of nodes 0 and 1 only

TEST(MemoryOfAllowedNodes, IsWhereRulesPutPages) {
  for (auto const rule :
       {placement::interleave(), placement::blocked(), placement::cyclic(2 * page)}) {
    array<char> a(100 * page, rule);
    write_all(a);
    expect_as_ruled(a);
    EXPECT_THAT(nodes_of(a), Each(testing::AnyOf(0, 1)));
  }
}

// ---- 3 nodes with cpus, the second without memory

TEST(MemoryWithAnEmptyNode, LeavesItOut) {
  auto const& host = nigh::this_host();
  ASSERT_EQ(host.cpus().size(), 6u);
  for (auto const rule :
       {placement::interleave(), placement::blocked(), placement::cyclic(2 * page)}) {
    array<char> a(100 * page, rule);
    write_all(a);
    expect_as_ruled(a);
    auto const nodes = nodes_of(a);
    EXPECT_EQ(std::count(nodes.begin(), nodes.end(), 0), 50);
    EXPECT_EQ(std::count(nodes.begin(), nodes.end(), 2), 50);
  }
  for (nigh::domain const& d : host.domains()) {  // binding there means where its memory comes from
    array<char> a(10 * page, placement::bind(d.index));
    write_all(a);
    expect_as_ruled(a);
    EXPECT_TRUE(nigh::migrate(std::span(a.data(), a.size()), d.index).ok());
  }
}

// ---- 2 x 2 with automatic NUMA balancing, without huge pages

// Until the balancer has unmapped some pages of the array; false when it would not. The caller is
// a second thread: the balancer leaves processes of one alone.
bool wait_for_hints(array<char>& a) {
  using clock = std::chrono::steady_clock;
  auto const give_up = clock::now() + std::chrono::seconds(120);
  while (clock::now() < give_up) {
    for (int i = 0; i < 200; ++i)
      for (std::size_t p = 0; p < 200; ++p) a[p * page] = static_cast<char>(i);
    auto const nodes = nodes_of(a);
    if (std::count(nodes.begin(), nodes.end(), -ENOENT) > 0) return true;
  }
  return false;
}

TEST(MemoryUnderBalancing, PagesThatAwaitAHintAreNotTakenForAbsent) {
  ASSERT_EQ(nigh::this_host().domains().size(), 2u);
  on_cpu(0, [] {
    array<char> a(2000 * page);
    array<char> const never(10 * page);
    write_all(a);
    ASSERT_TRUE(wait_for_hints(a)) << "the kernel answers for all pages, there is nothing to test";
    auto const report = a.report();
    EXPECT_EQ(report.untouched, 0u);
    EXPECT_EQ(report.note, "");
    EXPECT_EQ(report.pages_of_domain[0] + report.pages_of_domain[1], 2000u);
    EXPECT_EQ(never.report().untouched, 10u);
  });
}

TEST(MemoryUnderBalancing, AskingFromAfarMovesNothing) {
  on_cpu(0, [] {
    array<char> a(2000 * page);
    write_all(a);
    ASSERT_TRUE(wait_for_hints(a));
    on_cpu(2, [&] {
      EXPECT_THAT(a.report().pages_of_domain, testing::ElementsAre(2000, 0));
      EXPECT_EQ(nigh::domain_of(&a[1999 * page]), 0);
    });
    EXPECT_THAT(nodes_of(a), testing::Not(testing::Contains(1)));
  });
}

}  // namespace
