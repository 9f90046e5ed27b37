// SPDX-License-Identifier: Apache-2.0
// Workers and locality queues on a real machine of several domains: --nodes 4 --cores 2 or
// --nodes 2 --cores 2 --memory-only 1.

#include <gmock/gmock.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <nigh/array.hpp>
#include <nigh/runtime.hpp>
#include <nigh/topology.hpp>
#include <set>
#include <thread>
#include <vector>

namespace {

nigh::runtime_options with(nigh::locality mode) {
  nigh::runtime_options options;
  options.mode = mode;
  return options;
}

// The body of a task that should run in `domain`: is it there, by the system's word and the
// runtime's?
struct Witness {
  nigh::topology const& machine = nigh::this_host();
  std::atomic<int> ran{0}, elsewhere{0}, contradicted{0};

  void see(int domain) {
    int const here = machine.domain_of_cpu(nigh::current_cpu());
    ++ran;
    if (here != domain) ++elsewhere;
    if (here != nigh::this_worker::domain()) ++contradicted;
  }
};

TEST(tasks, workers_sit_on_a_cpu_each_and_stay_there) {
  nigh::runtime runtime;
  auto const& machine = nigh::this_host();
  EXPECT_TRUE(runtime.pinned());
  ASSERT_EQ(runtime.workers(), static_cast<int>(machine.cpus().size()));
  std::vector<std::atomic<int>> cpu_of(static_cast<std::size_t>(runtime.workers()));
  std::atomic<int> moved{0};
  for (auto& cpu : cpu_of) cpu = -1;
  for (int i = 0; i < 2000; ++i)
    runtime.spawn(nigh::near(i % machine.cpu_domains()), [&] {
      int const now = nigh::current_cpu();
      int const before = cpu_of[static_cast<std::size_t>(nigh::this_worker::index())].exchange(now);
      if (before != -1 && before != now) ++moved;
    });
  runtime.wait();
  EXPECT_EQ(moved, 0);
  auto const counters = runtime.counters();
  std::set<int> cpus;
  for (std::size_t w = 0; w < counters.size(); ++w) {
    EXPECT_EQ(counters[w].domain, machine.domain_of_cpu(counters[w].cpu));
    EXPECT_TRUE(cpu_of[w] == -1 || cpu_of[w] == counters[w].cpu);
    cpus.insert(counters[w].cpu);
  }
  EXPECT_EQ(cpus.size(), counters.size());
}

TEST(tasks, strict_ones_all_run_in_their_domain) {
  nigh::runtime runtime(with(nigh::locality::strict));
  Witness witness;
  int const domains = witness.machine.cpu_domains(), each = 1000;
  for (int i = 0; i < each * domains; ++i)
    runtime.spawn(nigh::near(i % domains), [&witness, d = i % domains] { witness.see(d); });
  runtime.wait();
  EXPECT_EQ(witness.ran, each * domains);
  EXPECT_EQ(witness.elsewhere, 0);
  EXPECT_EQ(witness.contradicted, 0);
  for (auto const& c : runtime.counters()) {
    EXPECT_EQ(c.remote, 0U);
    EXPECT_EQ(c.local, c.run);
  }
}

TEST(tasks, counters_agree_with_the_system) {
  nigh::runtime runtime(with(nigh::locality::prefer));
  Witness witness;
  constexpr int all = 3000;
  for (int i = 0; i < all; ++i)  // all of one domain's: the others must help
    runtime.spawn(nigh::near(0, 4096), [&witness] {
      for (int spin = 0; spin < 2000; ++spin) nigh::current_cpu();
      witness.see(0);
    });
  runtime.wait();
  std::uint64_t local = 0, remote = 0, bytes_remote = 0;
  for (auto const& c : runtime.counters()) {
    local += c.local;
    remote += c.remote;
    bytes_remote += c.bytes_remote;
    if (c.domain != 0) {
      EXPECT_EQ(c.local, 0U);
    }
  }
  EXPECT_EQ(local + remote, static_cast<std::uint64_t>(all));
  EXPECT_EQ(remote, static_cast<std::uint64_t>(witness.elsewhere.load()));
  EXPECT_EQ(bytes_remote, remote * 4096);
  EXPECT_EQ(witness.contradicted, 0);
}

TEST(tasks, near_a_pointer_is_near_its_pages) {
  auto const& machine = nigh::this_host();
  nigh::runtime runtime(with(nigh::locality::strict));
  Witness witness;
  int asked = 0;
  for (int d = 0; d < machine.cpu_domains(); ++d) {
    if (machine.nearest_memory(d) != d) continue;  // no memory there, or none we may use
    nigh::array<double> const a(64 * 1024, nigh::placement::bind(d));
    for (std::size_t i = 0; i < a.size(); i += 1024, ++asked)
      runtime.spawn(nigh::near(&a[i]), [&witness, d] { witness.see(d); });
    runtime.wait();
  }
  EXPECT_GE(asked, 64);
  EXPECT_EQ(witness.ran, asked);
  EXPECT_EQ(witness.elsewhere, 0);
}

// Nobody works in a domain that has memory only.
TEST(memory_only_tasks, run_although_no_worker_is_near) {
  auto const& machine = nigh::this_host();
  ASSERT_EQ(machine.cpu_domains(), 2);
  ASSERT_EQ(machine.domains().size(), 3U);
  for (auto const mode : {nigh::locality::prefer, nigh::locality::strict}) {
    nigh::runtime runtime(with(mode));
    nigh::array<double> const a(64 * 1024, nigh::placement::bind(2));
    std::atomic<int> ran{0};
    for (std::size_t i = 0; i < a.size(); i += 512)
      runtime.spawn(nigh::near(&a[i]), [&ran] { ++ran; });
    runtime.wait();
    EXPECT_EQ(ran, 128);
  }
}

}  // namespace
