// SPDX-License-Identifier: Apache-2.0
#include "cluster/watch/ring.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace nigh::cluster {

using RingKind = RingMessage::Kind;

int neighbour(int rank, int ranks, Side side) {
  if (ranks == 1 || (ranks == 2 && (rank == 0) != (side == Side::right))) return -1;
  return (rank + (side == Side::right ? 1 : ranks - 1)) % ranks;
}

Ring::Ring(int rank, std::vector<bool> const& edges, RingOptions options, Time now)
    : options_(options), looked_at_(now), next_beat_(now) {
  int const ranks = static_cast<int>(edges.size());
  NIGH_ASSERT(0 <= rank && rank < ranks, "a rank of the ring");
  for (Side const side : {Side::left, Side::right}) {
    int const other = neighbour(rank, ranks, side);
    int const edge = side == Side::right ? rank : other;
    at(side) = {other, other >= 0 && edges[static_cast<std::size_t>(edge)], 0, now};
  }
  // For the order of leaving, a closed ring is cut in front of rank 0.
  bool const whole = std::find(edges.begin(), edges.end(), false) == edges.end();
  is_first_ = (whole && rank == 0) || !is_connected(Side::left);
  is_last_ = (whole && rank == ranks - 1) || !is_connected(Side::right);
}

Ring::Sends Ring::to_all(RingMessage const& message) const {
  Sends sends;
  for (Side const side : {Side::left, Side::right})
    if (is_connected(side)) sends.add({side, message});
  return sends;
}

Ring::Sends Ring::lose(RingLoss const& loss) {
  loss_ = loss;
  return to_all({RingKind::loss, loss});
}

void Ring::listened(Time now) {
  Time const listened = std::clamp<Time>(now - looked_at_, 0, options_.beat_us);
  looked_at_ = now;
  for (Neighbour& neighbour : neighbours_) neighbour.quiet_us += listened;
}

Ring::Sends Ring::received(Side from, RingMessage const& message, Time now) {
  listened(now);
  at(from).quiet_us = 0;
  at(from).heard_at = now;
  if (is_over()) return {};
  switch (message.kind) {
    case RingKind::beat:
      return {};
    case RingKind::ready:
      right_is_ready_ = true;
      return pass_ready();
    case RingKind::goodbye:
      has_left_ = true;
      return to_all({RingKind::goodbye, {}});
    case RingKind::loss:
      return lose(message.loss);
  }
  return {};
}

Ring::Sends Ring::closed(Side side, Time now) {
  listened(now);
  at(side).connected = false;
  if (is_over()) return {};
  return lose({at(side).rank, RingLoss::How::ended, now - at(side).heard_at});
}

Ring::Sends Ring::learn_of(RingLoss const& loss) { return is_over() ? Sends{} : lose(loss); }

Ring::Sends Ring::leave() {
  wants_to_leave_ = true;
  return is_over() ? Sends{} : pass_ready();
}

Ring::Sends Ring::pass_ready() {
  if (!wants_to_leave_ || !(is_last_ || right_is_ready_)) return {};
  if (!is_first_) {
    Sends sends;
    sends.add({Side::left, {RingKind::ready, {}}});
    return sends;
  }
  has_left_ = true;
  return to_all({RingKind::goodbye, {}});
}

Ring::Sends Ring::tick(Time now) {
  listened(now);
  if (is_over()) return {};
  for (Side const side : {Side::left, Side::right})
    if (is_connected(side) && at(side).quiet_us > options_.silence_us)
      return lose({at(side).rank, RingLoss::How::silent, now - at(side).heard_at});
  if (now < next_beat_) return {};
  next_beat_ = now + options_.beat_us;
  return to_all({RingKind::beat, {}});
}

}  // namespace nigh::cluster
