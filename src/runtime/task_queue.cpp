// SPDX-License-Identifier: Apache-2.0
// Tasks of the C interface: how they are put, run and awaited.

#include "runtime/task_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "base/race_detector.hpp"
#include "platform/futex.hpp"

using nigh::detail::task_slot;
using nigh::detail::task_stack;
using nigh::detail::this_stack;

nigh_task_queue::nigh_task_queue(Scheduler& shared)
    : host(shared), counts(host.pool().threads.size()) {}

nigh_task_queue::nigh_task_queue(std::unique_ptr<nigh::topology> its_machine,
                                 nigh::runtime_options const& options)
    : machine(std::move(its_machine)),
      own(std::make_unique<Scheduler>(options)),
      host(*own),
      counts(host.pool().threads.size()) {}

std::uint64_t nigh_task_queue::finished_so_far() const noexcept {
  auto n = elsewhere.finished_so_far();
  for (auto const& c : counts) n += c.finished_so_far();
  return n;
}

std::uint64_t nigh_task_queue::put_so_far() const noexcept {
  auto n = elsewhere.put_so_far();
  for (auto const& c : counts) n += c.put_so_far();
  return n;
}

namespace nigh::tasks {
namespace {

// Where a task's input is. One word has a case of its own because it is common, and because copying
// exactly as many bytes as were just written is much faster than copying more.
enum class Input : std::uint8_t { none, one_word, in_slot, on_heap };

// The contents of a slot's closure.
struct Stored {
  nigh_function f;
  void* out;
  std::uint64_t in[NIGH_INPUT_IN_SLOT / 8];
  void* on_heap() const noexcept { return reinterpret_cast<void*>(in[0]); }
};
static_assert(sizeof(Stored) == task_slot::closure_bytes && offsetof(Stored, in) % 16 == 0);
static_assert(std::is_trivially_copyable_v<Stored> && sizeof(void*) <= 8);

// Calls f as a task of this thread: its own tasks lie above all that is there now.
void call(nigh_task_queue& queue, nigh_function f, void const* in, void* out) noexcept {
  auto& stack = *this_stack;
  auto* const outer = std::exchange(stack.base, static_cast<task_slot*>(stack.top));
  f(in, out);
  stack.base = outer;
  queue.counts_of(*stack.worker).finish();
}

// A task_slot::entry. The task may put another one into the slot, hence the copies.
template <Input input>
void run_slot(task_slot& slot, task_stack* popping) noexcept {
  auto const& stored = *std::launder(reinterpret_cast<Stored const*>(slot.closure));
  auto& queue = *static_cast<nigh_task_queue*>(slot.object);
  auto const f = stored.f;
  auto* const out = stored.out;
  if constexpr (input == Input::on_heap) {
    void* const in = stored.on_heap();
    if (popping != nullptr) popping->end_taking(&slot);
    call(queue, f, in, out);
    std::free(in);
  } else {
    alignas(16) std::uint64_t in[std::extent_v<decltype(Stored::in)>];
    if constexpr (input == Input::one_word) in[0] = stored.in[0];
    if constexpr (input == Input::in_slot) std::memcpy(in, stored.in, sizeof in);
    if (popping != nullptr) popping->end_taking(&slot);
    call(queue, f, input == Input::none ? nullptr : in, out);
  }
}

// At most 8 bytes; 4 and 8 of them through a register.
std::uint64_t word_at(void const* in, std::size_t bytes) noexcept {
  if (bytes == 4) {
    std::uint32_t half;
    std::memcpy(&half, in, 4);
    return half;
  }
  std::uint64_t word = 0;
  std::memcpy(&word, in, bytes);
  return word;
}

// For a stack with room; false when there is no memory for the input.
bool push(nigh_task_queue& queue, Worker& to, Call const& what) noexcept {
  task_slot* const slot = to.stack.top;
  auto& stored = *::new (static_cast<void*>(slot->closure)) Stored;
  stored.f = what.f;
  stored.out = what.out;
  if (what.in_bytes == 0) {
    slot->call = &run_slot<Input::none>;
  } else if (what.in_bytes <= 8) {
    stored.in[0] = word_at(what.in, what.in_bytes);
    slot->call = &run_slot<Input::one_word>;
  } else if (what.in_bytes <= sizeof stored.in) {
    std::memcpy(stored.in, what.in, what.in_bytes);
    slot->call = &run_slot<Input::in_slot>;
  } else {
    void* const copy = std::malloc(what.in_bytes);
    if (copy == nullptr) return false;
    std::memcpy(copy, what.in, what.in_bytes);
    stored.in[0] = reinterpret_cast<std::uintptr_t>(copy);
    slot->call = &run_slot<Input::on_heap>;
    queue.counts_of(to).allocated.add(1);
  }
  slot->object = &queue;
  slot->depth = to.depth + 1;
  if (to.marks() != 0) to.mark(*slot);
  to.stack.top = slot + 1;
  return true;
}

// Without room: runs it at once, also on a copy.
[[gnu::noinline]] void run_at(nigh_task_queue& queue, Worker& me, Call const& what) noexcept {
  queue.counts_of(me).serialized.add(1);
  AtSlot const here(me);
  alignas(16) std::byte small[NIGH_INPUT_IN_SLOT];
  bool const fits = what.in_bytes <= sizeof small;
  void* const copy = fits ? small : std::malloc(what.in_bytes);
  if (copy != nullptr && what.in_bytes > 0) std::memcpy(copy, what.in, what.in_bytes);
  call(queue, what.f, copy != nullptr && what.in_bytes > 0 ? copy : what.in, what.out);
  if (!fits) std::free(copy);
}

void put_at(nigh_task_queue& queue, Worker& me, Call const& what) noexcept {
  queue.counts_of(me).put.add(1);
  bool const room = me.stack.top < me.stack.limit || me.may_fork();
  if (!room || !push(queue, me, what)) [[unlikely]]
    run_at(queue, me, what);
}

// With all that it puts.
void run_whole(nigh_task_queue& queue, Worker& me, Call const& what) noexcept {
  queue.counts_of(me).put.add(1);
  task_slot* const base = me.stack.top;
  call(queue, what.f, what.in, what.out);
  me.finish_down_to(base);
}

// Waits for the tasks that this thread, or the task it runs, has put.
void finish(Worker& me) noexcept {
  auto& stack = me.stack;
  bool const tracks_depth = me.pool.limits_forks();
  while (stack.top > stack.base) {
    auto* const slot = stack.top - 1;
    if (stack.wanted.load(sync::relaxed) || tracks_depth || !stack.begin_taking(slot))
      me.finish_top();
    else
      slot->call(*slot, &stack);
  }
}

// Does `work` at the slot that the calling thread has, if any, and gives the slot up if it is not
// needed any more.
template <class Work>
auto visit(Worker* slot, Work work) noexcept {
  using answer = decltype(work(*slot));
  if (slot == nullptr) return answer{};
  auto& threads = slot->pool.threads;
  threads.displace_neighbour(*slot);  // in its place as long as it works here
  answer const a = [&] {
    AtSlot const here(*slot);
    return work(*slot);
  }();
  threads.put_back_neighbour(*slot);
  if (slot->stack.top == slot->stack.slots) visits.close(*slot);
  return a;
}

// By a worker of the queue that has gone on into another runtime: what it put would stay below the
// tasks that it comes back to.
void run_at_home(nigh_task_queue& queue, Worker& me, Call const& what) noexcept {
  AtSlot const here(me);
  ++strangers_below;
  run_whole(queue, me, what);
  --strangers_below;
}

// Not in a slot, and already counted as put.
void run_elsewhere(nigh_task_queue& queue, Call const& what) noexcept {
  what.f(what.in, what.out);
  wait(queue);
  queue.elsewhere.finish();
}

void run_on_worker(nigh_task_queue& queue, Call const& what) {
  struct Root {
    nigh_task_queue& queue;
    Call const& what;
    sync::atomic<std::uint32_t> done{0};
  } root{queue, what};
  queue.elsewhere.add();
  queue.host.submit(near{}, detail::make_task([&root] {
                      run_elsewhere(root.queue, root.what);
                      base::announce_release(&root.done);
                      root.done.store(1, sync::release);  // (stack.E)
                      platform::futex_wake_all(root.done);
                    }));
  while (root.done.load(sync::acquire) == 0) platform::futex_wait(root.done, 0);  // (stack.E)
  base::announce_acquire(&root.done);
}

}  // namespace

void put(nigh_task_queue& queue, Call const& what) noexcept {
  if (auto* const me = worker_of(queue)) {
    put_at(queue, *me, what);
    if (me->stack.wanted.load(sync::relaxed)) me->share();
  } else if (auto* const home = worker_at_home_in(queue.host.pool())) {
    queue.counts_of(*home).serialized.add(1);
    run_at_home(queue, *home, what);
  } else if (auto* const slot = visits.find_or_open(queue)) {
    put_at(queue, *slot, what);
    slot->share_all();  // its owner may be away for long
  } else {
    queue.elsewhere.add();
    queue.elsewhere.serialized.fetch_add(1, sync::relaxed);
    run_elsewhere(queue, what);
  }
}

void wait(nigh_task_queue& queue) noexcept {
  if (auto* const me = worker_of(queue)) return finish(*me);
  visit(visits.find(queue.host.pool()), [](Worker& me) {
    finish(me);
    return true;
  });
}

bool execute(nigh_task_queue& queue) noexcept {
  auto const one = [](Worker& me) { return me.stack.top > me.stack.base && me.run_top(); };
  if (auto* const me = worker_of(queue)) return one(*me);
  return visit(visits.find(queue.host.pool()), one);
}

std::uint32_t steal(nigh_task_queue& queue) noexcept {
  ++strangers_below;
  auto const once = [](Worker& me) { return me.steal_once(); };
  auto* const me = worker_of(queue);
  auto const n = me != nullptr ? once(*me) : visit(visits.find_or_open(queue), once);
  --strangers_below;
  return n;
}

// A thread within a task of any runtime does not sleep meanwhile: it may be a worker that others
// wait for. A thread outside of tasks waits until a worker takes the call from a locality queue.
void run(nigh_task_queue& queue, Call const& what) {
  auto const here = [&](Worker& me) {
    run_whole(queue, me, what);
    return true;
  };
  if (auto* const me = worker_of(queue)) {
    here(*me);
  } else if (auto* const home = worker_at_home_in(queue.host.pool())) {
    run_at_home(queue, *home, what);
  } else if (this_stack == &detail::no_stack) {
    run_on_worker(queue, what);
  } else if (auto* const slot = visits.find_or_open(queue)) {
    visit(slot, here);
  } else {
    queue.elsewhere.add();
    run_elsewhere(queue, what);
  }
}

// ---- slots that threads of other runtimes, or of none, have taken

thread_local Visits visits;
constinit thread_local bool visits_are_over = false;

Visits::~Visits() {
  visits_are_over = true;
  forget_those_of_the_parent();
  auto const is_open = [](Visit const& visit) { return visit.slot != nullptr; };
  for (;;) {  // tasks that run here may take further slots
    auto const visit = std::find_if(open_.begin(), open_.end(), is_open);
    if (visit == open_.end()) return;
    auto& slot = *visit->slot;
    {
      AtSlot const here(slot);
      slot.finish_down_to(slot.stack.slots);
    }
    close(slot);
  }
}

// After fork(): the slots belong to another process.
void Visits::forget_those_of_the_parent() noexcept {
  auto const now = count_forks();
  if (forks_before_ != now) open_ = {};
  forks_before_ = now;
}

Worker* Visits::find(Pool const& pool) noexcept {
  forget_those_of_the_parent();
  for (auto const& visit : open_)
    if (visit.slot != nullptr && &visit.slot->pool == &pool && visit.who == me()) return visit.slot;
  return nullptr;
}

Worker* Visits::find_or_open(nigh_task_queue& queue) noexcept {
  if (auto* const slot = find(queue.host.pool())) return slot;
  if (visits_are_over) return nullptr;  // nobody would close it
  for (auto& visit : open_) {
    if (visit.slot != nullptr) continue;
    auto* const slot = queue.host.pool().threads.take_external();
    if (slot == nullptr) return nullptr;
    // Between its calls the thread may wait for what workers do with the tasks that it has put.
    queue.host.pool().threads.put_back_neighbour(*slot);
    visit = {slot, me(), queue.own != nullptr ? &queue : nullptr};
    if (visit.queue != nullptr) queue.slots_held.fetch_add(1, sync::relaxed);
    return slot;
  }
  return nullptr;
}

void Visits::close(Worker const& slot) noexcept {
  for (auto& visit : open_) {
    if (visit.slot != &slot) continue;
    auto* const queue = visit.queue;
    slot.pool.threads.leave_external(*visit.slot);
    visit = {};
    // The queue may be freed by another thread from here on.
    if (queue == nullptr) return;
    base::announce_release(&queue->slots_held);
    queue->slots_held.fetch_sub(1, sync::release);  // (task_queue.L)
    return;
  }
}

}  // namespace nigh::tasks
