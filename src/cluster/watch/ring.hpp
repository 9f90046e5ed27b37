// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ranks that watch one another in a ring, and tell when one is missing: one rank's part as a state
// machine. Events and times go in, messages come out. No clock, no socket, no thread.
//
//   present ── wants to leave, and all do ──▶ left
//      └────── a neighbour, or somebody told of, is lost ──▶ lost
//
// Ranks form a ring, each connected to the one before it (left) and behind it (right).
// - Each says to both neighbours every `beat` that it is there. A connection that ends without a
//   goodbye says that the neighbour has ended; nothing heard for `silence`, that it is silent.
// - A rank that notices a loss says so both ways around the ring, and ends; so does a rank that is
// told.
//   One loss leaves a line of ranks, told from both of its ends. When the network falls apart, so
//   does the ring, in two places at least: every part has a rank that misses a neighbour.
// - Ranks leave together, or those still at work would have nobody to be told by. "Ready" goes from
//   the ring's last rank to its first, each passing it on when it wants to leave itself; then the
//   first says goodbye, which everybody passes on both ways.
// - Where two neighbours cannot connect, the ring is a line, or several.
//
// Silence is time that was listened to: what passes between two looks counts for one beat at most.
// So a rank that was not scheduled, stopped or suspended with its host does not take its own
// absence for its neighbours'. For this the caller must hand over the messages that have
// arrived before it tells the time.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace nigh::cluster {

using Time = std::int64_t;  // microseconds since any moment; never goes back

enum class Side : std::uint32_t { left, right };

// A rank's neighbour there; none (-1) where the ring has no edge: one rank has no neighbour, and of
// two ranks each has one.
int neighbour(int rank, int ranks, Side side);

struct RingLoss {
  enum class How : std::uint32_t { ended, silent };
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
  // At most one to each side. Watching allocates no memory: it must not wait for a thread that is
  // stuck in the middle of that.
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
  Sends leave();                      // this rank wants to
  Sends tick(Time now);

  Time next_tick() const { return next_beat_; }

  bool is_connected(Side side) const { return at(side).connected; }
  // Nothing is said from then on, and what comes is ignored.
  bool has_left() const { return has_left_; }
  std::optional<RingLoss> const& loss() const { return loss_; }

 private:
  struct Neighbour {
    int rank = -1;
    bool connected = false;
    Time quiet_us = 0;  // listened to
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
