// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copies of the tasks that a rank has given away and answers for. It keeps a copy until the result
// is back, and runs the task again when the rank that has it is lost. A rank that passes on a task
// answers for it in turn, so each rank watches only the ranks to which it gave something.
//
//   A ──t──▶ B ──t──▶ C      C's result goes to B, B's to A. When C is lost, B runs t again. When B
//   A ◀─ r ─ B ◀─ r ─ C      is lost, A does, and the result of C is of no use to anybody.
//
// On its way a task bears the name under which it is kept here. No name is used twice, so a result
// that comes twice, or for a task that has been run again, finds nothing and is dropped.

#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/wire.hpp"

namespace nigh::cluster {

class Supervision {
 public:
  // Distinguishes these names from those of slots and of placed tasks.
  static constexpr Token mark = Token{1} << 62;

  explicit Supervision(int self) : self_(self) {}

  // Returns the task under the name that the thief will use.
  Task keep(int thief, Task task) {
    Token const name = ++last_ | (task.token & isolated_mark);
    Task away{task.function, self_, name, false, task.input};
    kept_.emplace(name, Kept{thief, std::move(task)});
    return away;
  }
  // The same for all tasks of a message.
  bytes keep_all(int thief, byte_view message) {
    Reader reader(message);
    Writer away;
    auto const header = reader.get<Header>();
    away.put(header);
    for (int i = 0; i < header.count; ++i) put_task(away, keep(thief, get_task(reader)));
    return away.take();
  }

  // The task with that result, as its owner knows it; nothing: nobody waits for it.
  std::optional<Task> result_of(Token token) {
    auto const at = kept_.find(token);
    if (at == kept_.end()) return {};
    auto task = std::move(at->second.task);
    kept_.erase(at);
    return task;
  }

  // The tasks that were at the rank, to be run again. Copies of tasks whose owner is lost are
  // dropped, for nobody waits for their results.
  template <class IsLost>
  std::vector<Task> lose(int rank, IsLost is_lost) {
    std::vector<Task> again;
    for (auto at = kept_.begin(); at != kept_.end();) {
      auto& [thief, task] = at->second;
      bool const is_wanted = !is_lost(task.owner);
      if (thief == rank && is_wanted) again.push_back(std::move(task));
      at = thief == rank || !is_wanted ? kept_.erase(at) : std::next(at);
    }
    return again;
  }
  // This rank's own tasks: the run is over, and nobody here waits for them. The owners of others may
  // not know that yet.
  std::vector<Task> release_own() {
    std::vector<Task> own;
    for (auto at = kept_.begin(); at != kept_.end();) {
      bool const is_own = at->second.task.owner == self_;
      if (is_own) own.push_back(std::move(at->second.task));
      at = is_own ? kept_.erase(at) : std::next(at);
    }
    return own;
  }

  std::size_t kept() const noexcept { return kept_.size(); }

 private:
  struct Kept {
    int thief;
    Task task;
  };
  int const self_;
  std::map<Token, Kept> kept_;
  Token last_ = mark;
};

}  // namespace nigh::cluster
