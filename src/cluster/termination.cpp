// SPDX-License-Identifier: Apache-2.0
#include "cluster/termination.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/assert.hpp"

namespace nigh::cluster {

using Wave = TerminationMessage::Kind;

Termination::Termination(int rank, int ranks, int arity)
    : rank_(rank), parent_((rank - 1) / arity) {
  NIGH_ASSERT(0 <= rank && rank < ranks && arity > 0, "a rank of a tree");
  for (std::int64_t child = std::int64_t{rank} * arity + 1;
       child <= std::int64_t{rank} * arity + arity && child < ranks; ++child)
    children_.push_back(static_cast<int>(child));
  heard_.resize(children_.size());
}

void Termination::begin() {
  NIGH_ASSERT(run_ == ended_, "the run before this one is over");
  ++run_;
  is_first_wave_ = true;
}

std::vector<Termination::Send> Termination::to_children(TerminationMessage const& message) const {
  std::vector<Send> sends;
  for (int const child : children_) sends.push_back({child, message});
  return sends;
}

void Termination::ask(std::uint64_t wave) {
  asked_ = wave;
  below_ = {};
}

std::vector<Termination::Send> Termination::received(int from, TerminationMessage const& message) {
  switch (message.kind) {
    case Wave::ask:
      if (message.wave <= asked_) return {};
      ask(message.wave);
      asked_in_run_ = message.run;
      return to_children(message);
    case Wave::sums: {
      auto const child = std::find(children_.begin(), children_.end(), from);
      NIGH_ASSERT(child != children_.end(), "only children answer");
      auto& heard = heard_[static_cast<std::size_t>(child - children_.begin())];
      if (message.wave != asked_ || heard == asked_) return {};
      heard = asked_;
      below_.created += message.sums.created;
      below_.finished += message.sums.finished;
      return {};
    }
    case Wave::ended:
      // All ranks have begun a run that ends, so it is this rank's run, or an earlier one.
      NIGH_ASSERT(message.run <= run_, "a run ends when all have begun it");
      if (message.run <= ended_) return {};
      ended_ = message.run;
      return to_children(message);
  }
  return {};
}

bool Termination::is_waited_for() const {
  if (run_ == ended_) return false;
  if (rank_ == 0 && asked_ == answered_) return true;
  return asked_ > answered_ && (rank_ == 0 || asked_in_run_ == run_) &&
         std::all_of(heard_.begin(), heard_.end(), [&](auto wave) { return wave == asked_; });
}

std::vector<Termination::Send> Termination::look(TaskCounts here, bool is_quiet) {
  if (!is_quiet || !is_waited_for()) return {};
  if (asked_ == answered_) {  // the root's first wave
    ask(asked_ + 1);
    auto sends = to_children({Wave::ask, run_, asked_, {}});
    if (!sends.empty()) return sends;
  }
  answered_ = asked_;
  TaskCounts const sums{below_.created + here.created, below_.finished + here.finished};
  if (rank_ == 0) return close_wave(sums);
  return {{parent_, {Wave::sums, run_, asked_, sums}}};
}

// One wave after another costs a message up and one down on each edge, and only while all ranks are
// quiet, that is, while tasks are on their way.
std::vector<Termination::Send> Termination::close_wave(TaskCounts sums) {
  bool const over = !is_first_wave_ && sums.created == last_wave_.finished;
  last_wave_ = sums;
  is_first_wave_ = false;
  if (over) {
    ended_ = run_;
    return to_children({Wave::ended, run_, asked_, {}});
  }
  if (children_.empty()) return {};  // the next look() is the next wave
  ask(asked_ + 1);
  return to_children({Wave::ask, run_, asked_, {}});
}

void RunEnd::begin_run() {
  if (has_free_tasks_) waves_.begin();
  if (is_root_) ++own_counts_.created;
}

void RunEnd::root_has_ended(Outcome root) {
  ++own_counts_.finished;
  root_ = std::move(root);
}

void RunEnd::free_task_has_failed(Outcome const& what) {
  ++own_counts_.finished;
  if (!failure_) failure_ = what;
}

std::vector<Termination::Send> RunEnd::look(TaskCounts counts, bool is_quiet) {
  counts.created += own_counts_.created;
  counts.finished += own_counts_.finished;
  return waves_.look(counts, is_quiet);
}

std::optional<Outcome> RunEnd::verdict() {
  if (!root_ || (has_free_tasks_ && !waves_.has_ended())) return {};
  auto failure = std::exchange(failure_, {});
  auto root = std::exchange(root_, {});
  if (failure) failure->function = root->function;
  return failure && !root->failed ? failure : root;
}

void RunEnd::is_over_with(std::uint32_t run, Outcome outcome) {
  last_over_ = run;
  outcomes_.push_back(std::move(outcome));
}

Outcome RunEnd::take_outcome() {
  auto first = std::move(outcomes_.front());
  outcomes_.pop_front();
  return first;
}

}  // namespace nigh::cluster
