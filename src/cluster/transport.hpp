// SPDX-License-Identifier: Apache-2.0
#pragma once
// The network as the cluster layer uses it: ranks, and messages between them that arrive once, and
// from one rank in the order in which they were sent. It is implemented by MPI (mpi/), by one rank
// alone (Alone), and in tests by a network that follows a script.
//
// One thread at a time calls; the agent makes sure of that.

#include <cstddef>
#include <functional>
#include <nigh/detail/cluster_pack.hpp>
#include <string>
#include <vector>

#include "base/assert.hpp"

namespace nigh::cluster {

using detail::byte_view;
using detail::bytes;

class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const noexcept = 0;
  virtual int ranks() const noexcept = 0;
  virtual std::string name() const = 0;  // for people: "Open MPI 4.1.4"

  // Only the thread that made it may use it (MPI_THREAD_FUNNELED).
  virtual bool is_funneled() const noexcept = 0;

  // When a rank is lost the others can go on: their messages to it are dropped, and lost() reports
  // it. Otherwise the loss of one rank ends all, and why_all_end() says why, for people.
  virtual bool survivors_go_on() const { return false; }
  virtual std::string why_all_end() const {
    return "the MPI library lets no rank go on without the others";
  }
  // Collective, where survivors go on: from now on they do. Until then a loss ends all.
  virtual void survive() {}
  // Ranks that have been lost since the last call.
  virtual std::vector<int> lost() { return {}; }
  // That rank is silent, and counts as lost. Messages to it go out only as far as they do at once;
  // lost() does not report it.
  virtual void leave(int) {}

  // A message is on its way, or coming, and moves only when this rank polls.
  virtual bool is_moving() const noexcept { return false; }

  // Never blocks: a message that the network does not take is kept, and sent by a later call.
  virtual void send(int to, byte_view message) = 0;
  virtual bool is_sending() const noexcept { return false; }  // a message has not gone out
  // Sends what is kept, as far as it goes now, and receives nothing.
  virtual void advance() {}
  // The same for all of it, however much: others call the library next, and it sends meanwhile.
  virtual void hand_over() {}

  struct Arrived {
    int from = -1;  // -1: nothing
    byte_view message;
  };
  // Polls. The bytes stay until the next call.
  virtual Arrived receive() = 0;
  // Ranks of which a part of a large message has come since the last call, some of them twice.
  virtual std::vector<int> heard() { return {}; }

  // Collective: each rank's bytes, by rank.
  virtual std::vector<bytes> gather(byte_view mine) = 0;

  // Collective: memory that the ranks of a host share, with a part for each, aligned to a cache
  // line. [rank]: where that rank's part is here; null for those of other hosts. Empty: no memory
  // can be shared, or no other rank is on this host. It lasts until finish().
  virtual std::vector<std::byte*> share(std::size_t) { return {}; }

  // Collective. All messages sent are received and dropped; the network is given up. After
  // survive() it waits for no other rank.
  virtual void finish() = 0;
  // The same, but stops waiting for the others as soon as `is_left_behind` holds: false. Then the
  // network must not be destroyed, since the library may still use its memory.
  virtual bool finish_unless(std::function<bool()> const& is_left_behind) {
    static_cast<void>(is_left_behind);
    finish();
    return true;
  }
};

// A network of one rank.
class Alone : public Transport {
 public:
  int rank() const noexcept override { return 0; }
  int ranks() const noexcept override { return 1; }
  std::string name() const override { return "no MPI"; }
  bool is_funneled() const noexcept override { return false; }
  void send(int, byte_view) override { NIGH_ASSERT(false, "nobody sends to itself"); }
  Arrived receive() override { return {}; }
  std::vector<bytes> gather(byte_view mine) override { return {bytes(mine.begin(), mine.end())}; }
  void finish() override {}
};

}  // namespace nigh::cluster
