// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages that workers want sent, until somebody polls; and the root's outcome.

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/atomic.hpp"
#include "cluster/engine.hpp"
#include "tasks/lock.hpp"

namespace nigh::cluster {

class Outbox {
 public:
  void put(int to, bytes message) {
    std::lock_guard const guard(lock_);
    messages_.emplace_back(to, std::move(message));
    full_.store(true, sync::seq_cst);
  }
  void put(Outcome root) {
    std::lock_guard const guard(lock_);
    root_ = std::move(root);
    full_.store(true, sync::seq_cst);
  }

  bool is_empty() const noexcept { return !full_.load(sync::seq_cst); }

  void empty_into(Engine& engine) {
    if (is_empty()) return;
    std::vector<std::pair<int, bytes>> messages;
    std::optional<Outcome> root;
    {
      std::lock_guard const guard(lock_);
      messages.swap(messages_);
      root.swap(root_);
      full_.store(false, sync::seq_cst);
    }
    for (auto const& [to, message] : messages) engine.send(to, message);
    if (root) engine.stop(*root);
  }

 private:
  tasks::Lock lock_;
  std::vector<std::pair<int, bytes>> messages_;
  std::optional<Outcome> root_;
  sync::atomic<bool> full_{false};
};

}  // namespace nigh::cluster
