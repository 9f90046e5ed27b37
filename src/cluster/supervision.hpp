// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tasks that a rank has given away and has to answer for: it keeps a copy of each until its result
// is back, and runs it again when the rank that has it is lost. Who passes on a task that it was
// given answers for it in turn, so that everybody watches only those whom it gave something.
//
//   A ──t──▶ B ──t──▶ C      C's result goes to B, B's to A. When C is lost, B runs t again; when B
//   A ◀─ r ─ B ◀─ r ─ C      is, A does, and what C does for B is of no use to anybody.
//
// A rank that is stopped is not lost as far as the network knows: rank 0 misses it, and tells all
// (engine_silence.cpp).
//
// On the way a task has the name under which it is kept here. No name is used twice, so a result
// that comes twice, or for what has been run again, finds nothing and is dropped.

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/wire.hpp"

namespace nigh::cluster {

class Supervision {
 public:
  // Tells these names from those of slots and of placed tasks.
  static constexpr Token mark = Token{1} << 62;

  explicit Supervision(int ranks) : lost_(static_cast<std::size_t>(ranks), false) {}

  // As the thief shall know it.
  Task keep(int thief, int self, Task task) {
    Task away{task.function, self, ++last_, false, task.input};
    kept_.emplace(last_, Kept{thief, std::move(task)});
    return away;
  }

  // What that result is of, as its owner knows it; nothing: nobody waits for it.
  std::optional<Task> result_of(Token token) {
    auto const at = kept_.find(token);
    if (at == kept_.end()) return {};
    auto task = std::move(at->second.task);
    kept_.erase(at);
    return task;
  }

  // What was at the rank and is to be run again. Of what is kept for that rank nothing is: nobody
  // waits for it.
  std::vector<Task> lose(int rank) {
    lost_[static_cast<std::size_t>(rank)] = true;
    std::vector<Task> again;
    for (auto at = kept_.begin(); at != kept_.end();) {
      bool const was_there = at->second.thief == rank;
      if (was_there && !is_lost(at->second.task.owner)) again.push_back(std::move(at->second.task));
      at = was_there ? kept_.erase(at) : std::next(at);
    }
    return again;
  }
  // Everything that is kept, and is so no longer.
  std::vector<Task> release() {
    std::vector<Task> all;
    for (auto& [name, kept] : std::exchange(kept_, {})) all.push_back(std::move(kept.task));
    return all;
  }
  bool is_lost(int rank) const { return lost_[static_cast<std::size_t>(rank)]; }

  std::size_t kept() const noexcept { return kept_.size(); }

 private:
  struct Kept {
    int thief;
    Task task;
  };
  std::map<Token, Kept> kept_;
  Token last_ = mark;
  std::vector<bool> lost_;  // [rank]
};

}  // namespace nigh::cluster
