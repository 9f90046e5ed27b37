// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cooperative cancellation: a scope is asked to stop; its tasks check, and leave early.

#include <nigh/detail/cxx20.hpp>

#include <nigh/detail/atomic.hpp>

namespace nigh {

namespace detail {

struct stop_state {
  sync::atomic<bool> requested{false};
  stop_state const* parent = nullptr;

  bool is_requested() const noexcept {
    for (auto const* s = this; s != nullptr; s = s->parent)
      if (s->requested.load(sync::relaxed)) return true;
    return false;
  }
};

}  // namespace detail

// Tells whether a task_scope, or one around it, was asked to stop. Valid as long as that scope
// lives. The default token is never set. Costs a load per nested scope.
class stop_token {
 public:
  stop_token() = default;
  bool stop_requested() const noexcept { return state_ != nullptr && state_->is_requested(); }

 private:
  friend class task_scope;
  explicit stop_token(detail::stop_state const* s) noexcept : state_(s) {}

  detail::stop_state const* state_ = nullptr;
};

}  // namespace nigh
