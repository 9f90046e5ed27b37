// SPDX-License-Identifier: Apache-2.0
#pragma once
// One rank's part in a cluster: whom it asks for tasks and when, what it answers, and when a run is
// over. A state machine: messages, events and times come in, messages go out. No threads, no clock;
// tests run many of them in one thread.
//
//   a thief:   hungry ──steal──▶ waits for the answer ──tasks──▶ busy
//                ▲                    │ none
//                └──next victim, after a round without luck a rest──┘
//
// With lifelines it sleeps after such a round, until tasks come (lifelines.hpp).
//
// A run of fork-join tasks is over when its root is. Where a program has free tasks, waves count
// those that were created and those that are finished, from the beginning of the run.
//
// One request at a time is under way, on behalf of all the rank's workers. Whatever the victim's
// state, its rank answers: with a chunk, or with nothing. A victim on the same host is no more
// than visited, and waited for a little (shared_segment.hpp).
//
// Where tasks are supervised and the network lets others go on, ranks but rank 0 may be lost. Then
// there are no neighbours: who has taken something from a shelf, its owner does not know.

#include <cstdint>
#include <deque>
#include <nigh/cluster.hpp>
#include <optional>
#include <vector>

#include "base/atomic.hpp"
#include "cluster/lifelines.hpp"
#include "cluster/shared_segment.hpp"
#include "cluster/membership.hpp"
#include "cluster/supervision.hpp"
#include "cluster/termination.hpp"
#include "cluster/wire.hpp"
#include "policy/attention.hpp"
#include "policy/chunk_size.hpp"
#include "policy/search_pause.hpp"
#include "policy/steal_order.hpp"

namespace nigh::cluster {

// How many of the tasks that wait a thief gets.
struct Chunk {
  policy::ChunkChoice choice;
  level where;  // how far the thief is
  level topmost;
  std::size_t fixed = 1;
  std::size_t operator()(std::size_t waiting) const noexcept {
    return policy::chunk_to_steal(choice, waiting, where, topmost, fixed);
  }
};

struct EnginePolicies {
  policy::VictimChoice victims = policy::VictimChoice::hierarchical;
  policy::ChunkChoice chunks = policy::ChunkChoice::hierarchical;
  policy::SearchPause rest{20'000, 1'000'000};
  std::uint32_t seed = 1;  // the rank is mixed in
  bool has_free_tasks = false;
  std::size_t fixed_chunk = 1;
  bool has_lifelines = false;
  std::int64_t patience_ns = 20'000;  // with a neighbour that was visited in vain
  policy::RingPolicy rings = {};
  std::int64_t soon_ns = 300'000;  // what was asked for may be expected for so long
  bool supervised = false;  // see supervision.hpp; not with free tasks
  std::int64_t silence_ns = 0;  // supervised: after that, a rank is left; 0: none is
};

// A task's result, or what its exception said.
struct Outcome {
  bool failed = false;
  int rank = 0;
  bytes output;
};

class Engine {
 public:
  // The rank that this is the engine of.
  class Host {
   public:
    virtual ~Host() = default;
    virtual bool is_hungry() = 0;  // somebody is without work, and nothing waits here
    virtual bool is_busy() = 0;    // nobody is without work
    // Writes tasks for a thief, with their heads, and returns their number.
    virtual std::uint16_t give(Writer& to, Chunk const& chunk) = 0;
    virtual void take(Task task) = 0;
    // Nobody waits for the results of that rank's tasks any more. Those not begun may be dropped.
    virtual void forget(int) {}
    // Nothing is sent to that rank or received from it any more: it is silent.
    virtual void leave(int) {}
    // This rank is of no use to the others.
    enum class End { was_left, root_is_silent, has_parted };
    virtual void has_to_end(End, int /*rank*/) {}  // because of that one
    // A neighbour shall look.
    virtual void ring(int) {}
    virtual void deliver(Token token, detail::outcome const& what) = 0;
    // Free tasks that were ever created here, and finished here.
    virtual TaskCounts free_tasks() = 0;
  };

  // plan: whom to ask among the ranks, and how far they are.
  Engine(policy::VictimPlan plan, EnginePolicies policies, Host& host, Transport& network,
         HostSegments segments = {});

  // A run begins on this rank. Others may be ahead, or still in the last one.
  void begin();
  void receive(int from, byte_view message, std::int64_t now_ns);
  // Asks for tasks if it is time to. To be called whenever something may have changed.
  void tick(std::int64_t now_ns);
  // Messages that the rank has made itself.
  void send(int to, byte_view message);
  // On rank 0: the root is done. Tells everybody, when free tasks are too.
  void end_root(Outcome root);
  // That rank is lost, for ever; nothing that it has sent is heard from now on.
  void lose(int rank, std::int64_t now_ns);
  // This rank is there; every tenth of silence_ns. Others are missed by tick(), or listen() alone.
  void beat();
  void listen(std::int64_t now_ns);
  // No run will follow; who waits for this rank in one learns that it does so in vain. Where tasks
  // are supervised, all ranks have said so, or are lost, once has_parted().
  void part();
  bool has_parted() const noexcept { return has_parted_; }

  // A free task has thrown. It counts as finished only once rank 0 knows.
  void fail(Outcome const& what);

  // The current run is over.
  bool is_over() const noexcept {
    return !over_.empty() && (!policies_.has_free_tasks || termination_.has_ended());
  }
  Outcome take_outcome();

  // Tasks that were asked for may come at any moment.
  bool expects_tasks(std::int64_t now_ns) const noexcept {
    return (asked_ || !asked_nearby_.empty()) && now_ns - asked_ns_ < policies_.soon_ns;
  }

  // A neighbour without work waits for the next tick(). On any thread.
  bool is_called() const noexcept { return segments_.is_called(); }

  // On any thread; of the last one while a run begins.
  std::uint32_t run() const noexcept { return shown_run_.load(sync::relaxed); }
  rank_counters const& counters() const noexcept { return counters_; }
  HostSegments const& segments() const noexcept { return segments_; }

 private:
  void send_now(int to, byte_view message);
  void answer(int thief, Header const& request);
  int give(int thief, Kind kind);
  Chunk chunk_for(int thief) const;
  int next_victim();
  void take_tasks(Header const& header, Reader& from);
  void no_luck(std::int64_t now_ns);
  bool has_rested(std::int64_t now_ns);
  void feed_lifelines();

  // Where tasks are supervised some may be left when a run is over, for a rank that is lost: they
  // stay where they are, and nobody is told of their results.
  bool is_closed() const noexcept { return supervision_ && run_ <= ended_; }

  // engine_end.cpp
  void pass_on(byte_view stop_message);
  void keep_outcome(byte_view stop_message);
  void look_whether_over();
  void send(std::vector<Termination::Send> const& waves);
  void stop(Outcome const& root);

  // shared_stealing.cpp
  bool steal_in_shared_memory(std::int64_t now_ns);  // true: tasks have come
  void offer();
  std::size_t take_from(SharedSegment& segment, Chunk const& chunk);
  bool rob(int neighbour);
  bool visit(int neighbour, std::int64_t now_ns);
  void ring_those_who_do_not_look(std::int64_t now_ns);
  int nearest_on_host() const;
  // engine_loss.cpp
  void keep_copies(int thief);
  void place(int to, byte_view message);
  void result(ResultHead head, byte_view output);
  void release_waiting();
  void hang_on_the_others();
  // engine_silence.cpp
  void told_of_silent(int rank, std::int64_t now_ns);
  void leave(int rank, std::int64_t now_ns);
  void rank_parts(int rank, std::uint32_t last_run);
  void look_whether_all_part();
  void look_whether_somebody_misses();
  void tell_those_who_listen(Kind kind, int about);

  policy::VictimPlan const plan_;
  EnginePolicies const policies_;
  Host& host_;
  Transport& network_;
  HostSegments const segments_;

  std::uint32_t run_ = 0;
  sync::atomic<std::uint32_t> shown_run_{0};
  std::uint32_t ended_ = 0;   // the last run that is over
  std::deque<Outcome> over_;  // of runs that are over and not yet left, oldest first
  std::vector<Task> early_;   // of the run after this one

  Termination termination_;  // not in use without free tasks
  TaskCounts own_counts_;    // of root tasks, and of those that have failed anywhere
  std::optional<Outcome> root_;
  std::optional<Outcome> failure_;  // the first

  std::optional<Supervision> supervision_;
  Silence silence_;
  bool wants_to_part_ = false, has_parted_ = false;
  std::vector<bool> parts_;  // [rank]: wants to
  std::uint32_t last_run_ = ~0u;  // of those who part, the first
  int first_to_part_ = -1;
  Lifelines lifelines_;
  bool asked_ = false;  // a request is under way
  int asks_ = -1;       // to whom, if so
  std::int64_t asked_ns_ = 0;  // anybody for anything, last
  int attempt_ = 0;     // of this round
  int failed_rounds_ = 0;
  std::int64_t rests_until_ns_ = 0;
  std::uint32_t random_state_;
  std::uint32_t random_bits_ = 0;  // of this round
  struct AskedNearby {  // may have put something on its shelf since
    int rank;
    std::uint32_t looks;  // that it had taken
    std::int64_t ring_ns;
  };
  std::vector<AskedNearby> asked_nearby_;

  Writer writer_;
  rank_counters counters_;
};

}  // namespace nigh::cluster
