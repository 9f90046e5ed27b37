// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages over MPI, in a communicator of our own.
//
// Receives are posted before anything can come, into a ring of small buffers, and looked at in the
// order they were posted, the order in which MPI fills them: probing for messages would double
// their latency. A message that does not fit is announced by a message with its size, and received
// on its own, in pieces, since MPI counts bytes by an int; until it is whole, later messages of
// that rank wait, to keep their order.
//
// Once ranks may be lost a large message goes in parts that are small messages. Open MPI 5.0.11 crashes, or
// searches without end, when a rank is lost in the middle of a message that it does not send at once
// (docs/cluster-faults.md).
//
// Sends are buffered: MPI gets a few at a time, for each rank in turn, and more wait here. So nobody
// waits for a message to another rank, which may be large, or stand still.
//
// Where MPI reports lost ranks (losses.hpp), survive() has its functions return errors. An error of a
// send or of a receive says that a rank is lost, no more: the next receive() asks MPI which. Requests
// to and from a rank that is lost, or was left, are put aside with their memory, since those of a
// rank that merely stands still never end.
//
// The memory that ranks of a host share is a window of MPI's. MPI only makes it: what MPI does in a
// window is not atomic against what processors do (Open MPI's osc/sm loses updates).

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/transport.hpp"

namespace nigh::cluster::mpi {

class Network final : public Transport {
 public:
  // starts: MPI is ours to finalise.
  Network(bool starts, bool is_funneled);
  ~Network() override;
  static bool is_there() noexcept { return networks_ > 0; }

  int rank() const noexcept override { return rank_; }
  int ranks() const noexcept override { return ranks_; }
  std::string name() const override;
  bool is_funneled() const noexcept override { return is_funneled_; }
  bool survivors_go_on() const override { return why_all_end().empty(); }
  std::string why_all_end() const override;
  void survive() override;
  std::vector<int> lost() override { return std::exchange(lost_, {}); }
  void leave(int rank) override;
  bool is_moving() const noexcept override { return is_sending() || !waiting_.empty(); }
  bool is_sending() const noexcept override { return unsent_ > 0; }
  void send(int to, byte_view message) override;
  void advance() override;
  void hand_over() override;
  Arrived receive() override;
  std::vector<int> heard() override { return std::exchange(heard_, {}); }
  std::vector<bytes> gather(byte_view mine) override;
  std::vector<std::byte*> share(std::size_t bytes_each) override;
  void finish() override { finish_unless([] { return false; }); }
  bool finish_unless(std::function<bool()> const& is_left_behind) override;

 private:
  static constexpr int ring_size = 16;
  static constexpr std::size_t buffer_bytes = 4096;
  static constexpr std::size_t piece_bytes = 16 << 20;
  static constexpr std::size_t most_under_way = 256;  // sends that are MPI's
  static constexpr std::size_t most_to_one = 16;      // of these to one rank
  static constexpr std::size_t most_small = 4000;  // bytes that MPI sends at once, with their header
  static constexpr int most_rounds = 16;  // of sends, in a call; then it is others' turn
  static constexpr int most_parts_at_once = 1024;  // then other messages get a chance
  enum Tag : int { small = 1, large = 2 };
  // The last byte of a small message: it is whole, gives the size of the large one that follows, or is a
  // part of that.
  enum class Says : std::uint8_t { all, size, part };

  struct Sending {
    MPI_Request request = MPI_REQUEST_NULL;
    int to = 0;
    Tag tag = small;
    bytes message;   // of a large one: the last piece has it
    byte_view what;  // goes out
  };
  struct Lane {  // what goes to one rank
    std::deque<Sending> sends;  // MPI has the first under_way
    std::size_t under_way = 0;
    bool is_ready = false;  // it is in ready_
  };
  struct Waiting {  // a message that has come, or has been announced
    int from = 0;
    bytes message;
    std::vector<MPI_Request> pieces;  // of a large one, until it is whole
    std::size_t missing = 0;          // of one that comes in parts: bytes
  };

  // ranks that are lost, or were left
  void fails(int error);
  void learn_of_losses();
  void put_aside(int rank);
  bool is_gone(int rank) const { return is_any_gone_ && gone_[static_cast<std::size_t>(rank)]; }

  bool finish_with_all(std::function<bool()> const& is_left_behind);
  void finish_with_survivors();
  void drop_receives();

  void post(std::size_t slot);
  enum class Came : std::uint8_t { nothing, message, part };
  Came poll_ring();
  void take_part(int from, byte_view part);
  void take_next();
  Lane& lane(int to) { return lanes_[static_cast<std::size_t>(to)]; }
  void push(Sending sending);
  void push_small(int to, byte_view message, Says what);
  void push_large(int to, byte_view message);
  void push_parts(int to, byte_view message);
  void note_if_ready(int to);
  void receive_large(Waiting& into);
  bool is_whole(Waiting& message);
  void start_sends();
  void start_next(Lane&, int to);
  void retire_sends(Lane& of);
  void retire_all();

  inline static int networks_ = 0;
  inline static int lost_before_ = -1;  // a rank without which no other session can begin
  bool const starts_;
  bool const is_funneled_;
  MPI_Comm world_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 1;
  MPI_Comm host_ = MPI_COMM_NULL;  // the ranks of this one
  MPI_Win window_ = MPI_WIN_NULL;

  std::vector<std::byte> buffers_;
  std::array<MPI_Request, ring_size> posted_;
  std::size_t next_ = 0;  // of the ring: the oldest receive
  std::deque<Waiting> waiting_;
  bytes lent_;  // what the caller reads

  std::vector<Lane> lanes_;   // [rank]
  std::deque<int> ready_;     // ranks to which MPI may get another send, in turn
  std::vector<int> busy_;     // ranks to which a send is under way
  std::size_t unsent_ = 0;    // in all lanes
  std::size_t under_way_ = 0;
  std::vector<bytes> spare_;  // buffers of sends that are done
  std::vector<int> heard_;    // ranks of which parts have come, since the last call of heard()
  std::vector<unsigned long long> sent_to_;
  unsigned long long received_ = 0, expected_ = 0;  // expected: in all, known when it finishes

  bool survives_ = false;
  bool has_failed_ = false;  // a rank is lost: which, MPI has not been asked yet
  std::vector<bool> gone_;   // [rank]: lost, or left
  bool is_any_gone_ = false;
  std::vector<int> lost_;  // since the last call of lost()
  std::deque<Sending> sends_aside_;
  std::deque<Waiting> receives_aside_;
};

}  // namespace nigh::cluster::mpi
