// SPDX-License-Identifier: Apache-2.0
// How a scheduler begins and ends.

#include "tasks/scheduler.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "platform/affinity.hpp"
#include "policy/victim_order.hpp"
#include "tasks/current.hpp"

namespace nigh::detail {
namespace {

[[noreturn]] void refuse(std::string const& option, std::string const& why) {
  throw std::invalid_argument("runtime_options::" + option + ": " + why);
}

std::vector<int> chosen_cpus(topology const& machine, runtime_options const& options) {
  auto cpus = machine.order(options.order, options.order_level);
  auto const allowed = std::to_string(cpus.size());
  if (options.workers < 0) refuse("workers", std::to_string(options.workers) + " is negative");
  auto const wanted = static_cast<std::size_t>(options.workers);
  if (wanted > cpus.size())
    refuse("workers",
           std::to_string(wanted) + " workers, but only " + allowed + " cpus are allowed");
  if (wanted > 0) cpus.resize(wanted);
  return cpus;
}

}  // namespace

scheduler::scheduler(runtime_options const& options)
    : machine_(options.machine != nullptr ? *options.machine : this_host()), options_(options) {
  auto const capacity = options.queue_capacity;
  if (capacity == 0 || (capacity & (capacity - 1)) != 0)
    refuse("queue_capacity", std::to_string(capacity) + " is not a power of two");
  lay_out(chosen_cpus(machine_, options));
  start_threads();
}

scheduler::~scheduler() {
  quiescence_.wait([&] { return all_done(); });
  stop_threads();
}

// Which worker sits where, and who helps whom.
void scheduler::lay_out(std::span<int const> cpus) {
  auto const domains = machine_.domains().size();
  std::vector<int> home_at(domains, -1);
  for (int cpu : cpus) home_at[static_cast<std::size_t>(machine_.domain_of_cpu(cpu))] = 0;
  for (std::size_t d = 0; d < domains; ++d) {
    if (home_at[d] < 0) continue;
    home_at[d] = static_cast<int>(homes_.size());
    homes_.push_back({static_cast<int>(d), {}, {}, nullptr});
  }
  for (int cpu : cpus) {
    int const domain = machine_.domain_of_cpu(cpu);
    int const h = home_at[static_cast<std::size_t>(domain)];
    int const index = static_cast<int>(workers_.size());
    workers_.push_back(std::make_unique<Worker>(index, cpu, domain, h, domains));
    home(h).workers.push_back(index);
  }

  std::vector<std::vector<int>> workers_of, wake_order;
  for (auto& h : homes_) {
    std::vector<double> to;
    for (auto const& other : homes_) to.push_back(machine_.distance(h.domain, other.domain));
    int const self = home_at[static_cast<std::size_t>(h.domain)];
    h.others = policy::victim_order(self, to);
    workers_of.push_back(h.workers);
    wake_order.push_back({self});
    if (may_run_abroad())
      wake_order.back().insert(wake_order.back().end(), h.others.begin(), h.others.end());
  }
  parking_.emplace(std::move(workers_of), std::move(wake_order));

  for (std::size_t d = 0; d < domains; ++d) {
    auto const nearest = std::min_element(homes_.begin(), homes_.end(), [&](auto& a, auto& b) {
      return machine_.distance(a.domain, static_cast<int>(d)) <
             machine_.distance(b.domain, static_cast<int>(d));
    });
    home_of_domain_.push_back(home_at[d] >= 0 ? home_at[d]
                                              : static_cast<int>(nearest - homes_.begin()));
  }
}

void scheduler::start_threads() {
  ready_.emplace(static_cast<std::ptrdiff_t>(workers_.size()));
  try {
    for (auto& w : workers_) threads_.emplace_back([this, &w] { live(*w); });
  } catch (...) {
    // The threads that did start wait for the others; let them through, to their end.
    stopping_.store(true, sync::relaxed);
    ready_->count_down(static_cast<std::ptrdiff_t>(workers_.size() - threads_.size()));
    stop_threads();
    throw;
  }
  ready_->wait();
  if (stopping_.load(sync::relaxed)) {
    stop_threads();
    std::rethrow_exception(exception_);
  }
}

// A worker's whole life. Nobody works before everybody is set up.
void scheduler::live(Worker& me) noexcept {
  try {
    set_up(me);
  } catch (...) {
    keep_exception();
    stopping_.store(true, sync::relaxed);  // the latch orders it before the loads behind it
  }
  ready_->arrive_and_wait();
  if (stopping_.load(sync::relaxed)) return;
  current = {this, &me};
  work(me);
}

// On the worker's own thread, so that what it allocates lies in its domain.
void scheduler::set_up(Worker& me) {
  if (machine_.is_this_host() && !platform::pin_this_thread({&me.cpu, 1}))
    pinned_.store(false, sync::relaxed);
  me.ring = std::make_unique<Queue>(tasks::ring_capacity);
  auto& mine = home(me.home);
  if (mine.workers.front() == me.index)
    mine.queue = std::make_unique<Queue>(options_.queue_capacity);
}

void scheduler::stop_threads() noexcept {
  stopping_.store(true, sync::seq_cst);  // (S)
  parking_->wake_all();
  for (auto& t : threads_) t.join();
}

std::vector<worker_counters> scheduler::counters() const {
  std::vector<worker_counters> all;
  for (auto const& w : workers_) {
    auto const& c = w->counters;
    worker_counters row;
    row.cpu = w->cpu;
    row.domain = w->domain;
    row.run = c.run.get();
    row.local = c.local.get();
    row.remote = c.remote.get();
    row.bytes_local = c.bytes_local.get();
    row.bytes_remote = c.bytes_remote.get();
    row.parked = c.parked.get();
    for (std::size_t d = 0; d < c.domain_count; ++d)
      row.run_for_domain.push_back(c.run_for_domain[d].get());
    all.push_back(std::move(row));
  }
  return all;
}

void scheduler::reset_counters() noexcept {
  for (auto& w : workers_) w->counters.reset();
}

}  // namespace nigh::detail
