// SPDX-License-Identifier: Apache-2.0
#pragma once
// The memory that the ranks of a host share: each rank has a segment with a queue of tasks that the
// others may take, and words about its state (shared_stealing.hpp reads and writes them).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "base/atomic.hpp"
#include "cluster/shared_steal_queue.hpp"
#include "cluster/transport.hpp"
#include "cluster/wire.hpp"
#include "policy/stealing/chunk_size.hpp"

namespace nigh::cluster {

// A task in a shared queue. With its turn it fills a cache line.
struct Descriptor {
  static constexpr std::size_t most_input = 39;

  Token token = 0;
  std::uint32_t function = 0;
  std::int32_t owner = 0;
  std::uint8_t input_bytes = 0;
  std::byte input[most_input] = {};

  static bool fits(Task const& t) noexcept { return t.input.size() <= most_input; }
  explicit Descriptor(Task const& t) noexcept
      : token(t.token),
        function(t.function),
        owner(t.owner),
        input_bytes(static_cast<std::uint8_t>(t.input.size())) {
    std::copy(t.input.begin(), t.input.end(), input);
  }
  Descriptor() = default;

  Task task() const { return {function, owner, token, false, bytes(input, input + input_bytes)}; }
};
static_assert(sizeof(Descriptor) == 56);

inline constexpr std::size_t most_from_queue = 8;  // tasks per visit

struct SharedSegment {
  // Each word names a run, from 1; 0 is none. So tasks and requests of one run do not concern the
  // next.
  using Word = sync::atomic<std::uint32_t>;

  SharedStealQueue<Descriptor, policy::largest_chunk> queue;
  alignas(64) Word wanted{0};  // a rank of the host has found the queue empty
  alignas(64) Word hungry{0};  // the owner is without work itself
  Word has_more{0};            // the owner has tasks that fit no queue: ask for them by message
  Word wanted_in_vain{0};      // the owner has seen `wanted`, and had nothing
  alignas(64) Word looks{0};   // how often the owner has looked at all this; not a run
  Word bell{0};                // rung to have the owner look (lookout.hpp); not a run
};

// The segments of the ranks on this host, as seen by one of these ranks.
class HostSegments {
 public:
  HostSegments() = default;
  // segments[rank]; null: on another host.
  HostSegments(int self, std::vector<SharedSegment*> segments)
      : self_(self), segments_(std::move(segments)) {}

  bool any() const noexcept { return !segments_.empty(); }
  // Another rank of this host.
  bool has(int rank) const noexcept {
    return any() && rank != self_ && segments_[static_cast<std::size_t>(rank)] != nullptr;
  }
  SharedSegment& at(int rank) const noexcept { return *segments_[static_cast<std::size_t>(rank)]; }
  SharedSegment& own() const noexcept { return at(self_); }

  // All ranks are on this host.
  bool are_all() const noexcept {
    return any() && std::none_of(segments_.begin(), segments_.end(),
                                 [](SharedSegment const* s) { return s == nullptr; });
  }

 private:
  int self_ = 0;
  std::vector<SharedSegment*> segments_;
};

// Collective: none where no two ranks share a host, or their MPI has no memory to share.
inline HostSegments meet_segments(Transport& network) {
  if (network.ranks() == 1) return {};
  auto const parts = network.share(sizeof(SharedSegment));
  std::vector<SharedSegment*> segments;
  for (auto* const part : parts) segments.push_back(reinterpret_cast<SharedSegment*>(part));
  auto const self = network.rank();
  if (!parts.empty())
    ::new (static_cast<void*>(parts[static_cast<std::size_t>(self)])) SharedSegment;
  std::byte const done{};
  network.gather({&done, 1});  // no rank looks at a segment before it is made
  return {self, std::move(segments)};
}

}  // namespace nigh::cluster
