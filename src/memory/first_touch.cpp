// SPDX-License-Identifier: Apache-2.0
#include "memory/first_touch.hpp"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

#include "base/atomic.hpp"
#include "platform/affinity.hpp"
#include "platform/pages.hpp"

namespace nigh::memory {
namespace {

// Threads of one domain share its pages in stretches of this many, in turn.
constexpr std::size_t stretch = 512;

struct Share {
  int domain;
  int cpu;
  std::size_t part, parts;
};

void touch(policy::PlacementMap const& map, std::byte* base, Share const& share) {
  std::size_t const page = platform::page_bytes();
  std::size_t seen = 0;  // pages of the domain so far
  for (std::size_t at = 0; at < map.mapped_bytes();) {
    auto const run = map.run_from(at);
    at += run.bytes;
    if (run.domain != share.domain) continue;
    for (std::size_t p = 0; p < run.bytes; p += page, ++seen)
      if (seen / stretch % share.parts == share.part)
        *static_cast<std::byte volatile*>(base + run.offset + p) = std::byte{0};
  }
}

}  // namespace

std::string touch_from_domains(policy::PlacementMap const& map, std::byte* base,
                               topology const& machine) {
  std::string trouble;
  std::vector<Share> shares;
  for (int const d : map.domains()) {
    auto const& cpus = machine.domains()[static_cast<std::size_t>(d)].cpus;
    if (cpus.empty())
      trouble = "domain " + std::to_string(d) + " has no cpu to touch its pages from";
    for (std::size_t part = 0; part < cpus.size(); ++part)
      shares.push_back({d, cpus[part], part, cpus.size()});
  }
  sync::atomic<int> unpinned{0};
  std::vector<std::thread> threads;
  threads.reserve(shares.size());
  try {
    for (Share const& share : shares)
      threads.emplace_back([&map, base, &share, &unpinned] {
        if (!platform::pin_this_thread({&share.cpu, 1})) unpinned.fetch_add(1, sync::relaxed);
        touch(map, base, share);
      });
  } catch (std::system_error const& e) {
    trouble = std::string("a thread could not be started: ") + e.code().message();
  }
  for (auto& t : threads) t.join();
  if (unpinned.load(sync::relaxed) > 0) trouble = "the threads could not be pinned";
  return trouble;
}

}  // namespace nigh::memory
