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

// Tells whether a task_scope or a stop_source, or one around it, was asked to stop. Valid as long
// as that lives. The default token is never set. Costs a load per nested scope.
class stop_token {
 public:
  stop_token() = default;
  bool stop_requested() const noexcept { return state_ != nullptr && state_->is_requested(); }

 private:
  friend class task_scope;
  friend class stop_source;
  explicit stop_token(detail::stop_state const* s) noexcept : state_(s) {}

  detail::stop_state const* state_ = nullptr;
};

// Stops loops, pipelines and scopes that have its token, also several at once and without a scope
// of its own. It outlives all that have its token. Any thread may call any function; request_stop()
// is a store.
class stop_source {
 public:
  stop_source() = default;
  // When the parent is asked to stop, so is this one.
  explicit stop_source(stop_token parent) noexcept { state_.parent = parent.state_; }
  stop_source(stop_source&&) = delete;
  stop_source& operator=(stop_source&&) = delete;

  void request_stop() noexcept { state_.requested.store(true, sync::relaxed); }
  bool stop_requested() const noexcept { return state_.is_requested(); }
  stop_token token() const noexcept { return stop_token(&state_); }

 private:
  detail::stop_state state_;
};

}  // namespace nigh
