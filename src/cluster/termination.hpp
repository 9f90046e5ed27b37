// SPDX-License-Identifier: Apache-2.0
#pragma once
// Are all free tasks of all ranks done? Counted waves on a tree (Mattern, "Algorithms for
// distributed termination detection", 1987), one rank's part of them as a state machine: local
// state and messages go in, messages come out. No clock, no network, no thread.
//
//   root      ask ──▶ ... ──▶ leaves     down the tree, once a wave
//   root ◀── sums ◀── ... ◀── leaves     up, each when its subtree has answered and it is quiet
//   root    ended ──▶ ... ──▶ leaves     when a wave has seen as many tasks created as the wave
//                                        before it had seen finished
//
// Each rank counts the free tasks that were created on it, wherever they go, and those that
// finished on it, wherever they came from; the root task of a run is one of rank 0's. The counts
// only grow, even from run to run.
//
// Why it is right. A wave begins when the one before it is over. Let A be the tasks whose end that
// wave saw, B those whose creation this one sees.
// - A is part of B: a task's creation happens before its end, and all that one wave saw happens
//   before all that the next one sees. So equal counts mean A = B.
// - Then no task is left. The run's root is in B, hence in A. Suppose there is a task outside A. Of
//   its ancestors some are in A, so one task of A has created a child outside A. But it did that
//   before it ended, so this wave has seen the child's creation: the child is in B, which is A.
// A task ends when all tasks it waits for are done, so tasks that its fork-join children create, on
// any rank, count as created by it. This is why creations are counted, and not messages with a flag
// "all are passive": such children wake a passive rank without any counted message.
//
// For the same reason counts need not be read at one moment, or together: `created` any time after
// the rank was asked, `finished` any time before it answers; a sum over workers' counters will do,
// by (put_count.Q).
//
// Messages may be late, repeated, and overtake each other between any two ranks.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "cluster/wire.hpp"

namespace nigh::cluster {

struct TaskCounts {
  std::uint64_t created = 0;
  std::uint64_t finished = 0;
  bool operator==(TaskCounts const&) const = default;
};

struct TerminationMessage {
  enum class Kind : std::uint32_t { ask, sums, ended };
  Kind kind = Kind::ask;
  std::uint32_t run = 0;
  std::uint64_t wave = 0;
  TaskCounts sums;  // over the sender's subtree
};

class Termination {
 public:
  struct Send {
    int to = 0;
    TerminationMessage message;
  };

  // Rank r's children in the tree are r x arity + 1, ... + arity, as far as these exist.
  Termination(int rank, int ranks, int arity = 4);

  // This rank takes part in the next run: a collective step, as a run ends only once all ranks have
  // begun it. On rank 0, the root task has been counted as created.
  void begin();

  // A message of any kind. Messages may arrive before begin().
  std::vector<Send> received(int from, TerminationMessage const& message);

  // The local state. Call it when it may matter: see is_waited_for(). A rank is quiet when no task
  // that it knows of is unfinished here; this saves waves, and safety does not rest on it.
  std::vector<Send> look(TaskCounts here, bool is_quiet);

  // Would look() send anything if the rank were quiet?
  bool is_waited_for() const;

  // The present run is over, on all ranks. False again after begin().
  bool has_ended() const { return ended_ == run_ && run_ > 0; }

  // On rank 0: the waves that are over, and the sums of the last one.
  std::uint64_t waves() const { return rank_ == 0 ? answered_ : 0; }
  TaskCounts last_wave() const { return last_wave_; }

 private:
  std::vector<Send> to_children(TerminationMessage const& message) const;
  void ask(std::uint64_t wave);
  std::vector<Send> close_wave(TaskCounts sums);

  int rank_;
  int parent_;
  std::vector<int> children_;
  std::uint32_t run_ = 0, ended_ = 0;
  std::uint64_t asked_ = 0, answered_ = 0;  // waves
  std::uint32_t asked_in_run_ = 0;
  std::vector<std::uint64_t> heard_;  // of each child: the last wave it has answered
  TaskCounts below_;                  // of the children that have answered the wave
  TaskCounts last_wave_;
  bool is_first_wave_ = true;  // of the run
};

// When is a run over, and with which outcome? One rank's part as a state machine.
//
//   root   the root task has ended, and by the waves all free tasks have ──▶ verdict() for all
//   ranks each   is_over_with(), which the root has told ──▶ is_over() ──▶ take_outcome()
//
// A run of fork-join tasks is over when its root task is. Only where a program has free tasks do
// waves count those created and those finished.
class RunEnd {
 public:
  RunEnd(int rank, int ranks, bool has_free_tasks)
      : is_root_(rank == 0), has_free_tasks_(has_free_tasks), waves_(rank, ranks) {}

  void begin_run();

  // On the root. A free task that has failed anywhere counts as finished only once the root knows.
  void root_has_ended(Outcome root);
  void free_task_has_failed(Outcome const& what);

  // Waves. counts: free tasks ever created and finished on this rank, needed only if
  // wants_counts().
  bool wants_counts() const { return has_free_tasks_ && waves_.is_waited_for(); }
  std::vector<Termination::Send> look(TaskCounts counts, bool is_quiet);
  std::vector<Termination::Send> received(int from, TerminationMessage const& message) {
    return waves_.received(from, message);
  }

  // On the root: the outcome to tell all ranks, once.
  std::optional<Outcome> verdict();

  // That run is over. The program may not yet have left the run before it.
  void is_over_with(std::uint32_t run, Outcome outcome);
  std::uint32_t last_over() const noexcept { return last_over_; }
  // The present run of this rank is over, and its outcome is known.
  bool is_over() const { return !outcomes_.empty() && (!has_free_tasks_ || waves_.has_ended()); }
  Outcome take_outcome();

 private:
  bool const is_root_;
  bool const has_free_tasks_;
  Termination waves_;      // not in use without free tasks
  TaskCounts own_counts_;  // of root tasks, and of free tasks that have failed anywhere
  std::optional<Outcome> root_;
  std::optional<Outcome> failure_;  // the first
  std::uint32_t last_over_ = 0;
  std::deque<Outcome> outcomes_;  // of runs that are over and not yet left, oldest first
};

}  // namespace nigh::cluster
