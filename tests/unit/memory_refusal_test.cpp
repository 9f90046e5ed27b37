// SPDX-License-Identifier: Apache-2.0
// The kernel says no, for real: a seccomp filter refuses what a container's would.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <nigh/array.hpp>
#include <string>
#include <thread>
#include <vector>

#include "denied_call.hpp"
#include "memory/apply.hpp"
#include "platform/pages.hpp"

namespace {

using nigh::placement;
using nigh::policy::placement_domains;
using nigh::policy::PlacementMap;
using nigh::test::without_call;
using testing::HasSubstr;

// Fresh pages with a rule that, applied, must have them all bound or touched.
struct FreshPages {
  explicit FreshPages(placement wanted)
      : rule(wanted),
        map(rule, 1, 50 * nigh::platform::page_bytes() - 7, nigh::platform::page_bytes(),
            placement_domains(rule, nigh::this_host())),
        base(nigh::platform::map_pages(map.mapped_bytes(), map.page_bytes()).value()) {}
  ~FreshPages() { nigh::platform::unmap_pages(base, map.mapped_bytes()); }
  FreshPages(FreshPages&&) = delete;
  FreshPages& operator=(FreshPages&&) = delete;

  std::string apply() const {
    return nigh::memory::apply_placement(map, rule, base, nigh::this_host());
  }
  std::size_t resident() const {
    std::vector<unsigned char> there(map.mapped_bytes() / map.page_bytes());
    EXPECT_EQ(::mincore(base, map.mapped_bytes(), there.data()), 0);
    std::size_t n = 0;
    for (unsigned char const t : there) n += t & 1u;
    return n;
  }

  placement rule;
  PlacementMap map;
  std::byte* base;
};

std::vector<placement> const binding_rules{placement::interleave(), placement::bind(0),
                                           placement::blocked(), placement::cyclic(10'000)};

TEST(Refusal, BindingLeavesPagesUntouchedWhenTheKernelAgrees) {
  for (auto const rule : binding_rules) {
    FreshPages const pages(rule);
    EXPECT_EQ(pages.apply(), "");
    EXPECT_EQ(pages.resident(), 0u);
  }
}

TEST(Refusal, OfMbindTouchesEveryPageAndSaysSo) {
  for (int const reason : {EPERM, ENOSYS})
    without_call(SYS_mbind, reason, [] {
      for (auto const rule : binding_rules) {
        FreshPages const pages(rule);
        auto const note = pages.apply();
        EXPECT_THAT(note, HasSubstr("mbind refused"));
        EXPECT_THAT(note, HasSubstr("first touched from their domains"));
        EXPECT_EQ(pages.resident(), 50u);
      }
    });
}

TEST(Refusal, OfPinningIsSaid) {
  without_call(SYS_mbind, EPERM, [] {
    nigh::test::deny_call(SYS_sched_setaffinity, EPERM);
    FreshPages const pages(placement::blocked());
    EXPECT_THAT(pages.apply(), HasSubstr("could not be pinned"));
    EXPECT_EQ(pages.resident(), 50u);
  });
}

TEST(Refusal, OfMovePagesIsReported) {
  without_call(SYS_move_pages, EPERM, [] {
    nigh::array<char> a(10'000);
    a[0] = 1;
    auto const report = a.report();
    EXPECT_THAT(report.note, HasSubstr("move_pages refused"));
    EXPECT_EQ(report.untouched, 0u);
  });
}

TEST(Refusal, OfMmapIsOutOfMemoryWithTheReason) {
  std::size_t const bytes = 1237 * nigh::platform::page_bytes();
  std::thread([bytes] {
    nigh::test::deny_mmap_of(static_cast<std::uint32_t>(bytes), ENOMEM);
    try {
      nigh::array<char> const a(bytes);
      ADD_FAILURE();
    } catch (std::bad_alloc const& e) {
      EXPECT_THAT(e.what(), HasSubstr(std::to_string(bytes) + " bytes asked"));
      EXPECT_THAT(e.what(), HasSubstr("mmap refused"));
    }
  }).join();
}

}  // namespace
