// SPDX-License-Identifier: Apache-2.0
// Placement on all small sizes, against loops that say the same thing in the plainest way.

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "policy/loops/placement.hpp"

namespace {

using nigh::placement;
using nigh::topology;
using nigh::policy::PlacedRun;
using nigh::policy::placement_domains;
using nigh::policy::PlacementMap;

std::vector<int> first_domains(int n) {
  std::vector<int> domains(static_cast<std::size_t>(n));
  std::iota(domains.begin(), domains.end(), 0);
  return domains;
}

// Domain of every element, as the loop would deal them out.
std::vector<int> dealt_cyclic(std::size_t count, std::size_t piece, int domains) {
  std::vector<int> owner(count);
  int turn = 0;
  for (std::size_t begin = 0; begin < count; begin += piece, turn = (turn + 1) % domains)
    for (std::size_t i = begin; i < std::min(count, begin + piece); ++i) owner[i] = turn;
  return owner;
}

std::vector<int> dealt_blocked(std::size_t count, std::size_t granule, int domains) {
  std::size_t const granules = (count + granule - 1) / granule;
  std::vector<int> owner;
  for (int d = 0; d < domains; ++d) {
    std::size_t const n = static_cast<std::size_t>(domains), i = static_cast<std::size_t>(d);
    std::size_t const share = granules / n + (i < granules % n ? 1 : 0);
    for (std::size_t e = 0; e < share * granule && owner.size() < count; ++e) owner.push_back(d);
  }
  return owner;
}

struct Size {
  std::size_t element_bytes, count, page_bytes, granule;
  int domains;
};

template <class Check>
void for_all_sizes(Check check) {
  for (std::size_t element : {1u, 3u, 8u, 40u})
    for (std::size_t page : {1u, 8u, 16u, 64u})
      for (std::size_t count = 1; count <= 40; ++count)
        for (std::size_t granule : {1u, 2u, 3u, 7u, 50u})
          for (int domains = 1; domains <= 5; ++domains) {
            Size const size{element, count, page, granule, domains};
            check(size);
            if (testing::Test::HasFailure()) return;
          }
}

testing::Message described(Size const& s) {
  return testing::Message() << s.count << " elements of " << s.element_bytes << ", pages of "
                            << s.page_bytes << ", granule " << s.granule << ", " << s.domains
                            << " domains";
}

// Every byte lies with the owner of the element that holds its page's first byte.
void expect_pages_follow(std::vector<int> const& owner, PlacementMap const& map, Size const& s) {
  for (std::size_t byte = 0; byte < s.count * s.element_bytes; ++byte) {
    std::size_t const first = byte / s.page_bytes * s.page_bytes;
    ASSERT_EQ(map.domain_of(byte), owner[first / s.element_bytes])
        << described(s) << " at " << byte;
  }
}

TEST(Placement, BlockedIsWhatAStaticLoopOverDomainsGives) {
  for_all_sizes([](Size const& s) {
    PlacementMap const map(placement::blocked(s.granule), s.element_bytes, s.count, s.page_bytes,
                           first_domains(s.domains));
    expect_pages_follow(dealt_blocked(s.count, s.granule, s.domains), map, s);
  });
}

TEST(Placement, CyclicIsWhatADealingLoopGives) {
  for_all_sizes([](Size const& s) {
    PlacementMap const map(placement::cyclic(s.granule), s.element_bytes, s.count, s.page_bytes,
                           first_domains(s.domains));
    expect_pages_follow(dealt_cyclic(s.count, s.granule, s.domains), map, s);
  });
}

TEST(Placement, InterleaveTakesPagesInTurn) {
  for_all_sizes([](Size const& s) {
    PlacementMap const map(placement::interleave(), s.element_bytes, s.count, s.page_bytes,
                           first_domains(s.domains));
    for (std::size_t byte = 0; byte < s.count * s.element_bytes; ++byte)
      ASSERT_EQ(map.domain_of(byte),
                static_cast<int>(byte / s.page_bytes % static_cast<std::size_t>(s.domains)))
          << described(s);
  });
}

TEST(Placement, RunsCoverEveryPageOnceAndAreAsLongAsTheyCanBe) {
  for_all_sizes([](Size const& s) {
    for (auto rule : {placement::first_touch(), placement::interleave(), placement::bind(0),
                      placement::blocked(s.granule), placement::cyclic(s.granule)}) {
      auto domains = first_domains(s.domains);
      if (rule.how() == placement::kind::bind) domains = {3};
      if (rule.how() == placement::kind::first_touch) domains = {};
      PlacementMap const map(rule, s.element_bytes, s.count, s.page_bytes, domains);
      ASSERT_EQ(map.bytes(), s.count * s.element_bytes);
      ASSERT_EQ(map.mapped_bytes() % s.page_bytes, 0u);
      ASSERT_GE(map.mapped_bytes(), map.bytes());
      ASSERT_LT(map.mapped_bytes(), map.bytes() + s.page_bytes);
      std::size_t at = 0, runs = 0;
      int before = -2;
      while (at < map.mapped_bytes()) {
        PlacedRun const run = map.run_from(at);
        ASSERT_EQ(run.offset, at) << described(s);
        ASSERT_GT(run.bytes, 0u) << described(s);
        ASSERT_EQ(run.bytes % s.page_bytes, 0u) << described(s);
        ASSERT_NE(run.domain, before) << described(s);
        for (std::size_t p = at; p < std::min(at + run.bytes, map.bytes()); p += s.page_bytes)
          ASSERT_EQ(map.domain_of(p), run.domain) << described(s);
        before = run.domain;
        at += run.bytes;
        ++runs;
      }
      ASSERT_EQ(at, map.mapped_bytes());
      ASSERT_EQ(map.runs(1'000'000), runs);
      ASSERT_EQ(map.runs(2), std::min<std::size_t>(runs, 3));  // stops behind the limit
    }
  });
}

TEST(Placement, BlockBordersAreGranuleBordersAndSizesDifferByOneGranule) {
  for_all_sizes([](Size const& s) {
    if (s.page_bytes > 1) return;  // pages would hide the borders
    PlacementMap const map(placement::blocked(s.granule), s.element_bytes, s.count, 1,
                           first_domains(s.domains));
    std::size_t least = SIZE_MAX, most = 0;
    for (std::size_t at = 0; at < map.bytes();) {
      auto const run = map.run_from(at);
      ASSERT_EQ(run.offset % (s.granule * s.element_bytes), 0u) << described(s);
      std::size_t const granule = s.granule * s.element_bytes;
      std::size_t const granules = (run.bytes + granule - 1) / granule;
      least = std::min(least, granules);
      most = std::max(most, granules);
      at += run.bytes;
    }
    ASSERT_LE(most - least, 1u) << described(s);
  });
}

TEST(Placement, SharesAreOfDomainsNotOfThreads) {
  PlacementMap const map(placement::blocked(10), 1, 600, 1, first_domains(4));
  for (std::size_t d = 0; d < 4; ++d)
    EXPECT_EQ(map.run_from(d * 150), (PlacedRun{d * 150, 150, static_cast<int>(d)}));
}

TEST(Placement, HugePagesAreTheUnit) {
  constexpr std::size_t huge = std::size_t{2} << 20;
  PlacementMap const map(placement::blocked(), 8, 5 * huge / 8 / 2, huge, first_domains(2));
  // 2.5 huge pages: the border at 1.25 lies in the second, whose first byte is of the first block.
  EXPECT_EQ(map.mapped_bytes(), 3 * huge);
  EXPECT_EQ(map.run_from(0), (PlacedRun{0, 2 * huge, 0}));
  EXPECT_EQ(map.run_from(2 * huge), (PlacedRun{2 * huge, huge, 1}));
}

TEST(Placement, SizesOfManyGigabytesAndGranulesBeyondTheEndDoNotOverflow) {
  std::size_t const count = std::size_t{1} << 59;  // of 8 bytes: half of half the address space
  PlacementMap const blocked(placement::blocked(SIZE_MAX), 8, count, 4096, first_domains(3));
  EXPECT_EQ(blocked.runs(10), 1u);
  PlacementMap const cyclic(placement::cyclic(SIZE_MAX / 2), 8, count, 4096, first_domains(3));
  EXPECT_EQ(cyclic.runs(10), 1u);
  PlacementMap const thirds(placement::blocked(), 8, count, 4096, first_domains(3));
  EXPECT_EQ(thirds.runs(10), 3u);
  EXPECT_EQ(thirds.domain_of(8 * count - 1), 2);
}

TEST(Placement, AnEmptyArrayHasNoRuns) {
  for (auto rule : {placement::first_touch(), placement::blocked(), placement::cyclic(4)})
    EXPECT_EQ(PlacementMap(rule, 8, 0, 4096, {0, 1}).runs(5), 0u);
}

TEST(PlacementDomains, AreThoseWithCpusAndMemory) {
  auto const machine = topology::from_synthetic("pack:4 numa:1 core:2 pu:1");
  ASSERT_TRUE(machine.ok()) << machine.message();
  using ints = std::vector<int>;
  EXPECT_EQ(placement_domains(placement::first_touch(), *machine), ints{});
  EXPECT_EQ(placement_domains(placement::blocked(), *machine), (ints{0, 1, 2, 3}));
  EXPECT_EQ(placement_domains(placement::bind(2), *machine), ints{2});

  // Cpus 2 to 5 are of domains 1 and 2; the others become memory-only.
  auto const fewer = machine->restricted_to(std::vector<int>{2, 3, 4, 5});
  ASSERT_TRUE(fewer.ok()) << fewer.message();
  EXPECT_EQ(fewer->domains().size(), 4u);
  EXPECT_EQ(placement_domains(placement::cyclic(8), *fewer), (ints{0, 1}));
  EXPECT_EQ(placement_domains(placement::interleave(), *fewer), (ints{0, 1}));
  EXPECT_EQ(placement_domains(placement::bind(3), *fewer), ints{3});
}

TEST(PlacementDomains, InterleaveFollowsLinuxNumbers) {
  auto const machine = topology::from_synthetic("pack:4 numa:1(indexes=3,1,2,0) core:2 pu:1");
  ASSERT_TRUE(machine.ok()) << machine.message();
  ASSERT_EQ(machine->domains()[0].os_node, 3);
  EXPECT_EQ(placement_domains(placement::blocked(), *machine), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(placement_domains(placement::interleave(), *machine), (std::vector<int>{3, 1, 2, 0}));
}

}  // namespace
