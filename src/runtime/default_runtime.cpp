// SPDX-License-Identifier: Apache-2.0
// The runtime of those who do not make one, and what becomes of runtimes in a forked child.

#include <mutex>
#include <nigh/fork_join.hpp>
#include <nigh/runtime.hpp>
#include <optional>
#include <stdexcept>

#include "platform/thread.hpp"
#include "runtime/current.hpp"
#include "runtime/scheduler.hpp"

namespace nigh {
namespace {

// Never destroyed: tasks may still use it while the program's statics are.
struct Default {
  std::mutex lock;
  runtime_options options;
  sync::atomic<runtime*> made{nullptr};
};
Default& the_default() {
  static auto& one = *new Default;
  return one;
}

sync::atomic<unsigned> forks{0};

void before_fork() { the_default().lock.lock(); }
void in_parent() { the_default().lock.unlock(); }
void in_child() {
  forks.fetch_add(1, sync::relaxed);
  detail::this_stack = &detail::no_stack;
  detail::current = {};
  the_default().made.store(nullptr, sync::relaxed);
  the_default().lock.unlock();
}

}  // namespace

runtime& default_runtime() {
  auto& d = the_default();
  if (auto* const made = d.made.load(sync::acquire)) return *made;  // (L)
  std::lock_guard const guard(d.lock);
  if (auto* const made = d.made.load(sync::relaxed)) return *made;
  auto* const made = new runtime(options_from_environment(d.options));
  d.made.store(made, sync::release);  // (L)
  return *made;
}

void configure_default_runtime(runtime_options options) {
  auto& d = the_default();
  std::lock_guard const guard(d.lock);
  if (d.made.load(sync::relaxed) != nullptr)
    throw std::logic_error("configure_default_runtime: the default runtime is at work already");
  d.options = options;
}

namespace detail {

scheduler& default_scheduler() { return *default_runtime().scheduler_; }

unsigned forks_so_far() noexcept {
  static bool const registered = [] {
    platform::at_fork(before_fork, in_parent, in_child);
    return true;
  }();
  static_cast<void>(registered);
  return forks.load(sync::relaxed);
}

bool scheduler::inherited() const noexcept { return process_ != forks.load(sync::relaxed); }

}  // namespace detail
}  // namespace nigh
