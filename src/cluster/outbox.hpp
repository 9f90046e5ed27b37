// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages that workers want sent, until somebody polls; outcomes of the root
// and of free tasks that threw.

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/atomic.hpp"
#include "cluster/engine.hpp"
#include "runtime/lock.hpp"

namespace nigh::cluster {

class Outbox {
 public:
  void put(int to, bytes message) {
    std::lock_guard const guard(lock_);
    messages_.emplace_back(to, std::move(message));
    full_.store(true, sync::seq_cst);
  }
  void put_root(Outcome root) {
    std::lock_guard const guard(lock_);
    root_ = std::move(root);
    full_.store(true, sync::seq_cst);
  }
  void put_failure(Outcome of_free_task) {
    std::lock_guard const guard(lock_);
    failures_.push_back(std::move(of_free_task));
    full_.store(true, sync::seq_cst);
  }

  bool is_empty() const noexcept { return !full_.load(sync::seq_cst); }

  void empty_into(Engine& engine) {
    if (is_empty()) return;
    std::vector<std::pair<int, bytes>> messages;
    std::optional<Outcome> root;
    std::vector<Outcome> failures;
    {
      std::lock_guard const guard(lock_);
      messages.swap(messages_);
      root.swap(root_);
      failures.swap(failures_);
      full_.store(false, sync::seq_cst);
    }
    for (auto const& [to, message] : messages) engine.send(to, message);
    for (auto const& failure : failures) engine.fail(failure);
    if (root) engine.end_root(std::move(*root));
  }

 private:
  tasks::Lock lock_;
  std::vector<std::pair<int, bytes>> messages_;
  std::optional<Outcome> root_;
  std::vector<Outcome> failures_;
  sync::atomic<bool> full_{false};
};

}  // namespace nigh::cluster
