// SPDX-License-Identifier: Apache-2.0
// The public face of the runtime; the default runtime; runtimes in a forked child.

#include <mutex>
#include <nigh/runtime.hpp>
#include <stdexcept>

#include "base/published.hpp"
#include "platform/program.hpp"
#include "platform/thread.hpp"
#include "runtime/current_thread.hpp"
#include "runtime/scheduler.hpp"

namespace nigh {
namespace {

// Never destroyed: tasks may still use it while the program's statics are.
struct Default {
  std::mutex lock;
  runtime_options options;
  base::Published<runtime> made;
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
  tasks::become_nobody();
  the_default().made.set(nullptr);
  the_default().lock.unlock();
}

policy::WorkerLayout const& layout_of(tasks::Scheduler& scheduler) noexcept {
  return scheduler.pool().layout;
}

}  // namespace

runtime& default_runtime() {
  auto& d = the_default();
  if (auto* const made = d.made.get()) return *made;
  static_cast<void>(tasks::count_forks());  // first: a fork waits for this lock from then on
  std::lock_guard const guard(d.lock);
  if (auto* const made = d.made.get()) return *made;
  auto* const made = new runtime(options_from_environment(d.options));
  d.made.set(made);
  return *made;
}

void configure_default_runtime(runtime_options options) {
  auto& d = the_default();
  std::lock_guard const guard(d.lock);
  if (d.made.get() != nullptr)
    throw std::logic_error("configure_default_runtime: the default runtime is at work already");
  d.options = options;
}

namespace detail {

tasks::Scheduler& default_scheduler() { return runtime_access::scheduler(default_runtime()); }

}  // namespace detail

unsigned tasks::count_forks() noexcept {
  static bool const registered = [] {
    the_default();
    platform::at_fork(before_fork, in_parent, in_child);
    return true;
  }();
  static_cast<void>(registered);
  return forks.load(sync::relaxed);
}

// When the library is loaded: no other thread is in the middle of it then, of which a child of fork()
// would have the half.
[[maybe_unused]] static unsigned const none_yet = tasks::count_forks();

unsigned tasks::forks_so_far() noexcept { return forks.load(sync::relaxed); }

runtime::runtime(runtime_options options)
    : scheduler_(new tasks::Scheduler(options)) {
  tasks::await_end_of_this_thread();  // for the destructor, if this is the thread that calls exit()
}
runtime::runtime(int workers) : runtime(runtime_options{.workers = workers}) {}
runtime::runtime(runtime_options options, tasks::WorkSource& source)
    : scheduler_(new tasks::Scheduler(options, source)) {}
// exit() in a task, or beside threads that compute, destroys a runtime that is in use where it is static, or
// owned by what is static: it is left as it is.
runtime::~runtime() {
  bool const by_exit = platform::is_static(this) || tasks::this_thread_is_ending();
  if (!by_exit || !scheduler_->is_in_use()) delete scheduler_;
}

near runtime::resolved(near where) const { return scheduler_->resolved(where); }
void runtime::submit(near where, detail::task t) { scheduler_->submit(where, t); }
void runtime::wait() { scheduler_->wait(); }
void runtime::check_may_wait() const { scheduler_->check_may_wait("run"); }
int runtime::workers() const noexcept { return layout_of(*scheduler_).workers(); }
int runtime::workers_now() const { return scheduler_->pool().arena->member_count(); }
topology const& runtime::machine() const noexcept { return scheduler_->pool().machine; }
int runtime::queues() const noexcept {
  return static_cast<int>(layout_of(*scheduler_).groups().size());
}
int runtime::domain_of_queue(int queue) const {
  return layout_of(*scheduler_).groups().at(static_cast<std::size_t>(queue)).domain;
}
std::vector<int> const& runtime::queues_of(int domain) const {
  return layout_of(*scheduler_).groups_of_domain(domain);
}
bool runtime::pinned() const noexcept { return scheduler_->pool().pinned.load(sync::relaxed); }
std::vector<worker_counters> runtime::counters() const { return scheduler_->counters(); }
worker_counters runtime::guest_counters() const { return scheduler_->external_counters(); }
void runtime::reset_counters() noexcept { scheduler_->reset_counters(); }

int this_worker::index() noexcept {
  auto const* w = tasks::current_worker();
  return w != nullptr ? w->index : -1;
}
int this_worker::queue() noexcept {
  auto const* w = tasks::current_worker();
  return w != nullptr ? w->group : -1;
}
int this_worker::domain() noexcept {
  auto const* w = tasks::current_worker();
  return w != nullptr ? w->domain : -1;
}

}  // namespace nigh
