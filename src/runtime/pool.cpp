// SPDX-License-Identifier: Apache-2.0
#include "runtime/pool.hpp"

#include "platform/futex.hpp"
#include "policy/stealing/chunk_size.hpp"
#include "runtime/current_thread.hpp"

namespace nigh::tasks {
namespace {

std::vector<Pool::Group> groups_of(policy::WorkerLayout const& layout) {
  std::vector<Pool::Group> all(layout.groups().size());
  for (std::size_t g = 0; g < all.size(); ++g) {
    auto& threads = all[g].threads;
    threads = layout.groups()[g].workers;
    auto const n = threads.size();
    for (std::size_t i = 0; i < n; ++i) threads.push_back(layout.workers() + threads[i]);
  }
  return all;
}

// Which threads take from a group's queue, and which groups it wakes for its tasks.
std::vector<std::vector<int>> takers(std::vector<Pool::Group> const& groups) {
  std::vector<std::vector<int>> all;
  for (auto const& g : groups) all.push_back(g.threads);
  return all;
}
std::vector<std::vector<int>> wake_order(policy::WorkerLayout const& layout) {
  std::vector<std::vector<int>> all;
  for (auto const& g : layout.groups()) {
    all.push_back({static_cast<int>(all.size())});
    all.back().insert(all.back().end(), g.others.begin(), g.others.end());
  }
  return all;
}

}  // namespace

Pool::Pool(Scheduler& scheduler_, topology const& machine_, runtime_options options_,
           std::vector<int> const& cpus, WorkSource& source_)
    : scheduler(scheduler_),
      machine(machine_),
      options(std::move(options_)),
      layout(machine, cpus, {options.queue_level, options.mode == locality::strict}),
      source(source_),
      gives_tasks(source_.takes_tasks()),
      forks_before(count_forks()),
      threads(*this),
      groups(groups_of(layout)),
      parking(takers(groups), wake_order(layout), threads.size()),
      loop_host(*this) {
  // A program that names the cpus of a runtime has decided about them.
  std::unique_ptr<CpuLease> lease;
  if (make_cpu_lease != nullptr && options.cpus.empty() && layout.workers() > 1) {
    auto all = layout.cpus();  // each once
    if (auto const round = std::find(all.begin() + 1, all.end(), all.front()); round != all.end())
      all.erase(round, all.end());
    lease = make_cpu_lease(machine, all);
  }
  if (lease == nullptr) {
    arena = std::make_unique<Arena>(layout.workers());
    return;
  }
  policy::ArenaWorkers workers;
  workers.cpu_of = layout.cpus();
  workers.home_of = layout.loop_workers().home_of;
  workers.homes = layout.loop_workers().homes();
  workers.each_home_needs_one = options.mode == locality::strict;
  arena = std::make_unique<LeasedArena>(std::move(lease), std::move(workers),
                                        [this](auto const& members) { admit(members); });
}

Pool::~Pool() {
  if (is_inherited()) static_cast<void>(arena.release());  // its thread is the parent's
}

bool Pool::is_inherited() const noexcept { return forks_before != forks_so_far(); }

// Workers that may run are let in again first: so there is always one that looks for work. Then
// those asked to leave are woken where spawners look for sleepers, to sleep elsewhere.
void Pool::admit(LeasedArena::Members const& members) noexcept {
  auto const ask = [&](Worker& w, Worker::Leave what) {
    if (w.asked_to.load(sync::relaxed) == what) return;
    w.asked_to.store(what, sync::seq_cst);  // (parking.S) (parking.W)
    platform::futex_wake_all(w.asked_to);
    w.wake();
  };
  for (auto const what : {Worker::stay, Worker::leave})
    for (auto const& w : threads.workers())
      if (members[static_cast<std::size_t>(w->index)] == (what == Worker::stay)) {
        ask(*w, what);
        ask(threads.backup_of(*w), what);
      }
}

bool Pool::find_in_buffers(int of_group, detail::task& t) noexcept {
  static_assert(policy::chunk_stolen() == 1);
  for (int w : group(of_group).threads)
    if (threads.at_slot(w).buffer->try_take_one(t)) return true;
  return false;
}

bool Pool::find_in_other_groups(int of_group, detail::task& t) noexcept {
  for (int g : layout.in_reach(of_group))
    if (group(g).queue->try_take_one(t) || find_in_buffers(g, t)) return true;
  return false;
}

bool Pool::find_for_external(int of_group, detail::task& t) noexcept {
  return group(of_group).queue->take_one(t) || find_in_buffers(of_group, t) ||
         find_in_other_groups(of_group, t);
}

bool Pool::is_anything_queued() const noexcept {
  return std::any_of(groups.begin(), groups.end(), [](Group const& g) { return !g.queue->empty(); });
}

bool Pool::work_in_sight(int for_group) const noexcept {
  auto const any = [&](int g) {
    if (!group(g).queue->empty()) return true;
    for (int w : group(g).threads)
      if (!threads.at_slot(w).buffer->empty()) return true;
    return false;
  };
  if (any(for_group)) return true;
  if (source.in_sight()) return true;
  for (auto const& w : threads.workers())
    if (w->stack.has_shared()) return true;
  if (threads.surely_extras_present())
    for (auto const& other : threads.extras())
      if (other->stack.has_shared()) return true;
  for (int other : layout.in_reach(for_group))
    if (any(other)) return true;
  return false;
}

bool Pool::has_unshared_tasks() const noexcept {
  if (!may_share_for_others.load(sync::relaxed)) return false;
  auto const used = threads.all().first(threads.slots_used());
  return std::any_of(used.begin(), used.end(),
                     [](auto const& each) { return each->stack.is_unanswered(); });
}

// (quiescence.Q): first all that have finished, then all that were spawned.
bool Pool::all_done() const noexcept {
  auto finished = tasks_of_others.finished_so_far();
  for (auto const& w : threads.queue_takers()) finished += w->tasks.finished_so_far();
  auto spawned = tasks_of_others.spawned_so_far();
  for (auto const& w : threads.queue_takers()) spawned += w->tasks.spawned_so_far();
  return finished == spawned;
}

}  // namespace nigh::tasks
