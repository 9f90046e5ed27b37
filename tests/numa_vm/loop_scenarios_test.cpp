// SPDX-License-Identifier: Apache-2.0
// Do loops keep their iterations with their pages, on real domains?

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <nigh/array.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <nigh/topology.hpp>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t page = 512;  // doubles
constexpr std::size_t pages = 1024;
constexpr int passes = 20;  // over a page, so that a loop is long against the coming of its workers

struct Share {
  std::size_t remote = 0, moved = 0;  // of pages: in another domain; in another than the last time
  double of_pages() const { return static_cast<double>(remote) / pages; }
};

// An emulator gives its cpus time as it likes, and a domain that gets less loses iterations to the
// others, rightly. So here none is far ahead of another before its share is done, as on a machine.
class Abreast {
 public:
  explicit Abreast(std::size_t domains) : done_(domains) {}
  void a_page_was_done_in(std::size_t domain) {
    using clock = std::chrono::steady_clock;
    auto const mine = ++done_[domain];
    if (mine >= pages / done_.size()) return;
    for (auto const end = clock::now() + std::chrono::seconds(1); mine > slowest() + 4;) {
      if (clock::now() > end) given_up_ = true;  // no thread has come to some domain
      if (given_up_) return;
      __builtin_ia32_pause();  // the emulator lets the next cpu run
      std::this_thread::yield();
    }
  }

 private:
  std::size_t slowest() const { return *std::min_element(done_.begin(), done_.end()); }

  std::vector<std::atomic<std::size_t>> done_;
  std::atomic<bool> given_up_{false};
};

// Runs over an array, page by page, three times; what counts is where the last two ran.
Share run(nigh::runtime& runtime, nigh::array<double>& a, nigh::schedule const& how) {
  nigh::loop_options options;
  options.how = how;
  options.where = &runtime;
  std::vector<int> domain(pages, -1);
  Share share;
  for (int loop = 0; loop < 3; ++loop) {
    std::atomic<std::size_t> remote{0}, moved{0};
    Abreast abreast(nigh::this_host().domains().size());
    nigh::parallel_for(
        std::size_t{0}, pages,
        [&](std::size_t p) {
          for (int pass = 0; pass < passes; ++pass)
            for (std::size_t i = p * page; i < (p + 1) * page; ++i) a[i] += 1;
          int const here = nigh::this_host().domain_of_cpu(sched_getcpu());  // of a guest, too
          if (here != a.domain_of(p * page)) ++remote;
          if (here != std::exchange(domain[p], here)) ++moved;
          abreast.a_page_was_done_in(static_cast<std::size_t>(here));
        },
        options);
    share = {remote, moved};
  }
  return share;
}

TEST(loops, local_keeps_iterations_with_their_pages) {
  auto const& machine = nigh::this_host();
  ASSERT_GT(machine.domains().size(), 1u);
  nigh::runtime runtime;
  for (auto const& [name, rule] : {std::pair{"blocked", nigh::placement::blocked(page)},
                                   std::pair{"cyclic", nigh::placement::cyclic(16 * page)},
                                   std::pair{"interleave", nigh::placement::interleave()}}) {
    nigh::array<double> a(pages * page, rule);
    auto const local = run(runtime, a, nigh::local_schedule(a, page));
    auto const dynamic = run(runtime, a, nigh::dynamic_schedule());
    auto const report = a.report();
    EXPECT_EQ(report.misplaced, 0u) << report.note;
    std::printf(
        "%-10s remote: local %.1f%%, dynamic %.1f%%; in another domain than the last time: "
        "local %.1f%%, dynamic %.1f%%\n",
        name, 100 * local.of_pages(), 100 * dynamic.of_pages(),
        100.0 * static_cast<double>(local.moved) / pages,
        100.0 * static_cast<double>(dynamic.moved) / pages);
    EXPECT_LE(3 * local.remote, dynamic.remote) << name;
    EXPECT_LE(4 * local.moved, pages) << name;
    for (double const x : a) ASSERT_EQ(x, 6 * passes);
  }
}

}  // namespace
