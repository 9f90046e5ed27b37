// SPDX-License-Identifier: Apache-2.0
#pragma once
// One rank's part in a cluster, as a state machine: messages, events and times come in; messages,
// tasks and notices go out. No threads, no clock: tests run many engines in one thread.
//
// Each concern is a class of its own, which knows no other, sends nothing, and is tested alone:
//
//   StealSearch     which rank is asked for tasks, and when          steal_search.hpp
//   SharedStealing  stealing between ranks of one host, in memory    shared_stealing.hpp
//   Lifelines       sleeping until other ranks send tasks            lifelines.hpp
//   RunEnd          when a run is over, and with which outcome       termination.hpp
//   Membership      which ranks are there, and which work            membership.hpp
//   Supervision     copies of tasks that are run again after a loss  supervision.hpp
//   Verdicts        outcomes that a lost root may not have told all  succession.hpp
//   Checkpoints     values kept for others, and by others            checkpoints.hpp
//
// The engine tells them what happens, and carries out what they decide. Read engine.cpp from the
// top: a run, a steal, its end, a loss.
//
// A victim always answers, whatever its state: with a chunk of its tasks, or with nothing. A victim
// on the same host gets a message only for tasks that fit no shared queue.
//
// With supervised tasks, and a network that lets other ranks go on, any rank may be lost. The root
// task of a lost root begins anew on its successor. Such ranks use no shared memory, since the owner
// of a queue does not know which rank has taken a task.

#include <cstdint>
#include <nigh/cluster.hpp>
#include <optional>
#include <span>
#include <vector>

#include "base/atomic.hpp"
#include "cluster/checkpoints.hpp"
#include "cluster/lifelines.hpp"
#include "cluster/membership.hpp"
#include "cluster/shared_stealing.hpp"
#include "cluster/steal_search.hpp"
#include "cluster/succession.hpp"
#include "cluster/supervision.hpp"
#include "cluster/termination.hpp"
#include "cluster/wire.hpp"
#include "policy/stealing/attention.hpp"
#include "policy/stealing/chunk_size.hpp"
#include "policy/stealing/idle.hpp"
#include "policy/stealing/steal_order.hpp"

namespace nigh::cluster {

struct EnginePolicies {
  policy::VictimChoice victims = policy::VictimChoice::hierarchical;
  policy::ChunkChoice chunks = policy::ChunkChoice::hierarchical;
  policy::SearchPause rest{20'000, 1'000'000};
  std::uint32_t seed = 1;  // the rank is mixed in
  bool has_free_tasks = false;
  std::size_t fixed_chunk = 1;
  bool has_lifelines = false;
  std::int64_t patience_ns = 20'000;  // with a rank of the host that may fill its queue soon
  policy::RingPolicy rings = {};
  std::int64_t soon_ns = 300'000;  // requested tasks may be expected for so long
  bool supervised = false;         // see supervision.hpp; not with free tasks
  std::int64_t silence_ns = 0;     // with supervision: a rank silent for so long is lost; 0: never
  int spares = 0;                  // so many of the highest ranks wait until they are needed
  PiecePolicy pieces = {};         // of copies of checkpoints
};

class Engine {
 public:
  // The tasks of the rank's workers.
  class Tasks {
   public:
    virtual ~Tasks() = default;
    virtual bool is_hungry() = 0;  // a worker has no work, and nothing waits here
    virtual bool is_busy() = 0;    // no worker is without work
    // Writes tasks for a thief, with their heads, and returns their number.
    virtual std::uint16_t give(Writer& to, Chunk const& chunk) = 0;
    virtual void take(Task task) = 0;
    // Nobody waits for the results of that rank's tasks any more. Tasks not begun may be dropped.
    virtual void forget(int) {}
    virtual void deliver(Token token, detail::outcome const& what) = 0;
    // Free tasks ever created on this rank, and finished on it.
    virtual TaskCounts free_tasks() = 0;
  };

  // A request to the caller: to do something, or to tell people.
  struct Notice {
    enum class What {
      ring,            // wake that rank of this host, which does not look
      left_silent,     // that rank was silent, and all others go on without it
      was_left,        // this rank was silent, and the others have gone on: it must end
      root_is_silent,  // and so is its deputy: this rank must end
      is_root,         // this rank has become the root, in a run: it must begin the root task
      has_parted,      // that rank takes no part in this run: this rank must end
    };
    What what;
    int rank;
    bool operator==(Notice const&) const = default;
  };

  // plan: which ranks to ask, and how far away they are.
  Engine(policy::VictimPlan plan, EnginePolicies policies, Tasks& tasks, Transport& network,
         HostSegments segments = {});

  // A run begins on this rank. Other ranks may be ahead, or still in the last run.
  void begin();
  // Does all that depends on time. Call it whenever something may have changed.
  void tick(std::int64_t now_ns);
  void receive(int from, byte_view message, std::int64_t now_ns);
  // A part of a message of that rank has come, so it is there.
  void hear(int from) noexcept {
    if (!membership_.is_lost(from)) membership_.heard(from);
  }
  // Messages that the rank's own threads have made.
  void send(int to, byte_view message);

  bool is_root() const noexcept { return membership_.is_root(); }
  // This rank must begin the root task of the run that it has begun, which may be over already.
  bool has_root() const noexcept { return is_root() && run_ > end_.last_over(); }
  // On the root: the root task has ended. All ranks are told once all free tasks have, too.
  // A task of a run that is over already, as another rank has said, counts for nothing.
  void end_root(Outcome root, std::uint32_t run);
  // A free task has thrown.
  void fail(Outcome const& what);
  // The current run is over.
  bool is_over() const { return end_.is_over(); }
  Outcome take_outcome() { return end_.take_outcome(); }

  // That rank is lost. From now on, its messages are ignored. False: that was known.
  bool lose(int rank, std::int64_t now_ns);
  // So many of the ranks that are left should work from now on; to be called within a run.
  void resize(int ranks);
  bool works() const noexcept { return membership_.works(plan_.self); }  // this rank
  std::vector<int> working() const { return membership_.working(); }
  // Says that this rank is there; to be called every tenth of silence_ns.
  void beat();
  // The part of tick() that detects silent ranks.
  void listen(std::int64_t now_ns);
  // No run will follow; ranks that wait for this one in a run learn that they wait in vain. With
  // supervised tasks, has_parted() tells that all ranks have said so, or are lost.
  void part();
  bool has_parted() const noexcept { return membership_.has_parted(); }

  // For a task: call(Checkpoints&). A task whose run is over gets the copies of this rank.
  template <class Call>
  void checkpoint(Call const& call) {
    call(checkpoints_);
    if (is_closed()) checkpoints_.end_calls();
    send_about_checkpoints();
  }
  std::vector<Checkpoints::Finished> take_finished() { return checkpoints_.take_finished(); }

  // To be fetched after each call that may have made some.
  std::vector<Notice> take_notices() { return std::exchange(notices_, {}); }

  // Requested tasks may come at any moment.
  bool expects_tasks(std::int64_t now_ns) const noexcept {
    return search_.expects_tasks(now_ns) || shared_.expects_tasks(now_ns);
  }
  // A rank of this host waits for the next tick(). On any thread.
  bool is_called() const noexcept { return shared_.is_called(); }
  // On any thread; false for the last run while a new one begins.
  std::uint32_t run() const noexcept { return shown_run_.load(sync::relaxed); }
  rank_counters const& counters() const noexcept { return counters_; }
  HostSegments const& segments() const noexcept { return shared_.segments(); }

 private:
  // a steal
  void ask_for_tasks(std::int64_t now_ns);
  bool wants_tasks();
  void fails(std::int64_t now_ns);
  void answer(int thief, Header const& request);
  byte_view give(int thief, Kind kind);
  void take_tasks(Header const& header, Reader& from);
  void feed_lifelines();
  Chunk chunk_for(int thief) const;

  // in shared memory
  bool steal_in_shared_memory(std::int64_t now_ns);  // true: tasks have come
  bool must_be_asked(int rank_of_host, std::int64_t now_ns);
  bool steal_from(int rank_of_host);
  void offer();
  int nearest_on_host() const;

  // the end of a run
  void count_free_tasks();
  void send_waves(std::vector<Termination::Send> const& waves);
  void tell_end();
  void pass_on_end(byte_view stop_message);
  void end_run(std::uint32_t run, Outcome outcome);

  // results, and copies
  void take_result(ResultHead head, byte_view output);
  void place(int to, byte_view message);
  // With supervised tasks some may be left when a run is over, for a rank that is lost: they stay
  // where they are.
  bool is_closed() const noexcept { return supervision_ && run_ <= end_.last_over(); }

  // spare ranks
  void give_back();
  void has_resized();
  void lead_lifelines();

  // checkpoints
  // A task of a lost rank may call when all others have parted, and the network is finished.
  void send_about_checkpoints() {
    for (auto const& m : checkpoints_.take_messages())
      if (!membership_.has_parted())
        send_now(m.to, message(Kind::checkpoint, m.head, std::as_bytes(std::span(m.name)), m.piece()));
  }

  // ranks that are lost, silent, or parting
  void leave(int rank, std::int64_t now_ns);
  void succeed();
  void tell_verdicts(int to);
  void end_if_a_rank_is_missing();

  void send_now(int to, byte_view message);
  void tell(std::vector<int> const& ranks, Kind kind, std::int32_t about);
  // For this run; until the next one is made.
  template <class... Fields>
  byte_view message(Kind kind, Fields const&... fields) {
    writer_.clear();
    writer_.put(Header{kind, 0, 0, run_});
    (writer_.put(fields), ...);
    return writer_.view();
  }

  policy::VictimPlan const plan_;
  EnginePolicies const policies_;
  Tasks& tasks_;
  Transport& network_;

  std::uint32_t run_ = 0;
  sync::atomic<std::uint32_t> shown_run_{0};
  struct Early {
    std::uint32_t run;
    Task task;
  };
  std::vector<Early> early_;  // for runs after this one: other ranks may be several ahead

  StealSearch search_;
  SharedStealing shared_;
  Lifelines lifelines_;
  RunEnd end_;
  Membership membership_;
  std::optional<Supervision> supervision_;
  Verdicts verdicts_;  // empty unless tasks are supervised
  Checkpoints checkpoints_;

  std::vector<Notice> notices_;
  Writer writer_;
  rank_counters counters_;
};

}  // namespace nigh::cluster
