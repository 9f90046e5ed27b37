// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ranks of a host, as one of them sees them: each has a part of the memory that they share, its
// segment, with a shelf of tasks for whoever comes, and with words that say how it fares.
//
//   thief   looks at a segment's shelf; if it is empty, says that it wants something, and looks
//           again, and again
//   owner   sees that it is wanted, puts a chunk of what waits on its shelf, as it would send one;
//           takes tasks back when it runs dry
//   thief   rings the owner's bell when that has not looked for a while: its workers have long
//           tasks
//
// Only a rank that is wanted puts anything there, so who has no neighbours, or none without work,
// pays one load now and then. The words are hints, good for whoever sees them late or not at all:
// nobody counts on being asked, and who wants something keeps looking.

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
#include "policy/chunk_size.hpp"

namespace nigh::cluster {

// A task on a shelf. With its turn it fills a cache line.
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

inline constexpr std::size_t most_from_queue = 8;  // in one visit

struct SharedSegment {
  // Each names a run, from 1; 0 is none. A run's tasks and wishes do not concern the next.
  using Word = sync::atomic<std::uint32_t>;

  SharedStealQueue<Descriptor, policy::largest_chunk> queue;
  alignas(64) Word wanted{0};  // by a neighbour that found the shelf empty
  alignas(64) Word hungry{0};  // the owner is without work itself
  Word has_more{0};            // it has tasks that do not go on a shelf: to be asked for by message
  Word wanted_in_vain{0};      // the owner has seen it, and had nothing
  alignas(64) Word looks{0};   // that the owner has taken at all this; they are counted for good
  Word bell{0};                // rung to have the owner look (lookout.hpp)
};

class HostSegments {
 public:
  HostSegments() = default;
  // segments[rank]; null: on another host.
  HostSegments(int self, std::vector<SharedSegment*> segments)
      : self_(self), segments_(std::move(segments)) {}

  bool any() const noexcept { return !segments_.empty(); }
  bool has(int rank) const noexcept {
    return any() && rank != self_ && segments_[static_cast<std::size_t>(rank)] != nullptr;
  }
  SharedSegment& at(int rank) const noexcept { return *segments_[static_cast<std::size_t>(rank)]; }
  SharedSegment& own() const noexcept { return at(self_); }

  // There are no others.
  bool are_all() const noexcept {
    for (std::size_t r = 0; r < segments_.size(); ++r)
      if (segments_[r] == nullptr) return false;
    return any();
  }

  // Somebody waits for us to look, on any thread.
  bool is_called() const noexcept {
    if (!any()) return false;
    auto const wanted = own().wanted.load(sync::relaxed);
    return wanted != 0 && wanted != own().wanted_in_vain.load(sync::relaxed);
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
  network.gather({&done, 1});  // nobody looks at a segment before it is there
  return {self, std::move(segments)};
}

}  // namespace nigh::cluster
