// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ranks that watch one another in a ring, and tell when one is missing: one rank's part as a state
// machine. Events and times go in, messages come out. No clock, no socket, no thread.
//
//   present ── wants to leave, and all do ──▶ left
//      └── a neighbour is lost, or a message says that some rank is ──▶ lost
//
// Ranks form a ring, each connected to the one before it (left) and after it (right).
// - Each tells both neighbours every `beat` that it is there. A connection that ends without a
//   goodbye means that the neighbour has ended; nothing heard for `silence`, that it is silent.
// - A rank that notices a loss says so both ways around the ring, and ends; so does a rank that is
//   told. One loss leaves a line of ranks, told from both of its ends. When the network falls
//   apart, so does the ring, in at least two places: every part has a rank that misses a neighbour.
// - Ranks leave together; otherwise those still at work would have no neighbour to tell them of a
//   loss. "Ready" goes from the ring's last rank to its first; each passes it on when it wants to
//   leave itself. Then the first says goodbye, which every rank passes on both ways.
// - Where two neighbours cannot connect, the ring is a line, or several.
//
// Only time spent listening counts as silence: the time between two looks counts for one beat at
// most. So a rank that was not scheduled, stopped or suspended with its host does not take its own
// absence for its neighbours'. For this the caller must hand over the messages that have arrived
// before it tells the time.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace nigh::cluster {

using Time = std::int64_t;  // microseconds since any moment; never goes back

enum class Side : std::uint32_t { left, right };

// A rank's neighbour on that side; none (-1) where the ring has no edge: a single rank has no
// neighbour, and each of two ranks has one.
int neighbour(int rank, int ranks, Side side);

struct RingLoss {
  // left: it has ended its session while others are in a run, and its process goes on.
  enum class How : std::uint32_t { ended, silent, left };
  std::int32_t rank = -1;
  How how = How::ended;
  std::int64_t silent_us = 0;  // before it was noticed
  bool operator==(RingLoss const&) const = default;
};

struct RingMessage {
  enum class Kind : std::uint32_t { beat, ready, goodbye, loss };
  Kind kind = Kind::beat;
  RingLoss loss{};
};

struct RingOptions {
  Time beat_us = 500'000;
  Time silence_us = 5'000'000;
};

class Ring {
 public:
  struct Send {
    Side to = Side::left;
    RingMessage message{};
  };
  // At most one message to each side. Watching allocates no memory: it must not wait for a thread
  // that is stuck inside the allocator.
  class Sends {
   public:
    void add(Send const& send) { all_[count_++] = send; }
    Send const* begin() const { return all_.data(); }
    Send const* end() const { return all_.data() + count_; }

   private:
    std::array<Send, 2> all_{};
    std::size_t count_ = 0;
  };

  // edges[r]: rank r is connected to its right neighbour. All ranks are told the same.
  Ring(int rank, std::vector<bool> const& edges, RingOptions options, Time now);

  Sends received(Side from, RingMessage const& message, Time now);
  Sends closed(Side side, Time now);  // the connection has ended
  Sends leave();                      // this rank wants to leave
  Sends learn_of(RingLoss const& loss);  // by another way than the ring
  Sends tick(Time now);

  Time next_tick() const { return next_beat_; }

  bool is_connected(Side side) const { return at(side).connected; }
  // From then on nothing is sent, and messages are ignored.
  bool has_left() const { return has_left_; }
  std::optional<RingLoss> const& loss() const { return loss_; }

 private:
  struct Neighbour {
    int rank = -1;
    bool connected = false;
    Time quiet_us = 0;  // of the time spent listening
    Time heard_at = 0;
  };
  Neighbour& at(Side side) { return neighbours_[static_cast<std::size_t>(side)]; }
  Neighbour const& at(Side side) const { return neighbours_[static_cast<std::size_t>(side)]; }
  bool is_over() const { return has_left_ || loss_.has_value(); }
  Sends to_all(RingMessage const& message) const;
  Sends lose(RingLoss const& loss);
  Sends pass_ready();
  void listened(Time now);

  RingOptions options_;
  std::array<Neighbour, 2> neighbours_;
  bool is_first_ = false, is_last_ = false;  // in the order of leaving
  bool wants_to_leave_ = false, right_is_ready_ = false, has_left_ = false;
  std::optional<RingLoss> loss_;
  Time looked_at_;
  Time next_beat_;
};

}  // namespace nigh::cluster
