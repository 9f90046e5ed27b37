// SPDX-License-Identifier: Apache-2.0
// Tasks of the C interface: how they are put, run and waited for.

#include "tasks/task_queue.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <nigh/blocking_scope.hpp>
#include <utility>

#include "platform/futex.hpp"
#include "tasks/frame.hpp"
#include "tasks/visits.hpp"

using nigh::detail::task_slot;
using nigh::detail::task_stack;
using nigh::detail::this_stack;

nigh_task_queue::nigh_task_queue(scheduler& shared) : host(shared), counts(host.seats()) {}

nigh_task_queue::nigh_task_queue(std::unique_ptr<nigh::topology> its_machine,
                                 nigh::runtime_options const& options)
    : machine(std::move(its_machine)),
      own(std::make_unique<scheduler>(options)),
      host(*own),
      counts(host.seats()) {}

std::uint64_t nigh_task_queue::finished() const noexcept {
  auto n = elsewhere.finished.load(nigh::sync::acquire);                   // (Q)
  for (auto const& c : counts) n += c.finished.load(nigh::sync::acquire);  // (Q)
  return n;
}

std::uint64_t nigh_task_queue::put() const noexcept {
  auto n = elsewhere.put.load(nigh::sync::relaxed);
  for (auto const& c : counts) n += c.put.get();
  return n;
}

namespace nigh::tasks {
namespace {

enum class Input : std::uint8_t { none, in_slot, on_heap };

// What lies in a slot's closure.
struct Stored {
  nigh_function f;
  void* out;
  std::byte in[NIGH_INPUT_IN_SLOT];  // or a pointer to it
};
static_assert(sizeof(Stored) == task_slot::closure_bytes && offsetof(Stored, in) % 16 == 0);

// Calls f as a task of this thread: what it puts lies above all that is there now.
void call(nigh_task_queue& queue, nigh_function f, void const* in, void* out) noexcept {
  auto& stack = *this_stack;
  auto* const outer = std::exchange(stack.floor, stack.top);
  f(in, out);
  stack.floor = outer;
  queue.counts_of(*static_cast<Worker*>(stack.worker)).finish();
}

// A task_slot::entry. The slot may be needed by what the task puts, hence the copy.
template <Input input>
void run_slot(task_slot& slot, task_stack* popping) noexcept {
  alignas(16) Stored stored;
  std::memcpy(&stored, slot.closure, sizeof stored);
  auto& queue = *static_cast<nigh_task_queue*>(slot.object);
  if (popping != nullptr) popping->top = &slot;
  if constexpr (input == Input::on_heap) {
    void* in;
    std::memcpy(&in, stored.in, sizeof in);
    call(queue, stored.f, in, stored.out);
    std::free(in);
  } else {
    call(queue, stored.f, input == Input::none ? nullptr : stored.in, stored.out);
  }
}

// Into a stack with room; false when there is no memory for the input.
bool push(nigh_task_queue& queue, Worker& to, Call const& what) noexcept {
  auto* const slot = to.stack.top;
  Stored stored;
  stored.f = what.f;
  stored.out = what.out;
  if (what.in_bytes == 0) {
    slot->call = &run_slot<Input::none>;
  } else if (what.in_bytes <= sizeof stored.in) {
    std::memcpy(stored.in, what.in, what.in_bytes);
    slot->call = &run_slot<Input::in_slot>;
  } else {
    void* const copy = std::malloc(what.in_bytes);
    if (copy == nullptr) return false;
    std::memcpy(copy, what.in, what.in_bytes);
    std::memcpy(stored.in, &copy, sizeof copy);
    slot->call = &run_slot<Input::on_heap>;
    queue.counts_of(to).allocated.add(1);
  }
  std::memcpy(slot->closure, &stored, sizeof stored);
  slot->object = &queue;
  slot->depth = to.depth + 1;
  to.stack.top = slot + 1;
  return true;
}

// Puts, as far as there is room; else runs, on a copy as well.
void put_at(nigh_task_queue& queue, Worker& me, Call const& what) noexcept {
  auto& counts = queue.counts_of(me);
  counts.put.add(1);
  if ((me.stack.top < me.stack.limit || queue.host.may_fork(me)) && push(queue, me, what)) return;
  counts.serialized.add(1);
  AtSeat const here(me);
  if (what.in_bytes == 0) return call(queue, what.f, nullptr, what.out);
  alignas(16) std::byte small[NIGH_INPUT_IN_SLOT];
  bool const fits = what.in_bytes <= sizeof small;
  void* const copy = fits ? small : std::malloc(what.in_bytes);
  if (copy != nullptr) std::memcpy(copy, what.in, what.in_bytes);
  call(queue, what.f, copy != nullptr ? copy : what.in, what.out);
  if (!fits) std::free(copy);
}

// What this thread, or the task it runs, has put.
void finish(Worker& me) noexcept {
  auto& stack = me.stack;
  while (stack.top > stack.floor) me.host.finish_top(me);
}

// Does `work` at the seat that the calling thread has, if any, and gives it up if it is not needed
// any more.
template <class Work>
auto visit(Worker* seat, Work work) noexcept {
  using answer = decltype(work(*seat));
  if (seat == nullptr) return answer{};
  answer const a = [&] {
    AtSeat const here(*seat);
    return work(*seat);
  }();
  if (seat->stack.top == seat->stack.slots) visits.close(*seat);
  return a;
}

}  // namespace

void put(nigh_task_queue& queue, Call const& what) noexcept {
  if (auto* const me = worker_of(queue)) {
    put_at(queue, *me, what);
    if (me->stack.wanted.load(sync::relaxed)) queue.host.share(*me);
  } else if (auto* const seat = visits.find_or_open(queue)) {
    put_at(queue, *seat, what);
    queue.host.share_all(*seat);  // its owner may be away for long
  } else {
    queue.elsewhere.put.fetch_add(1, sync::relaxed);
    queue.elsewhere.serialized.fetch_add(1, sync::relaxed);
    what.f(what.in_bytes == 0 ? nullptr : what.in, what.out);
    queue.elsewhere.finished.fetch_add(1, sync::release);  // (Q)
  }
}

void wait(nigh_task_queue& queue) noexcept {
  if (auto* const me = worker_of(queue)) return finish(*me);
  visit(visits.find(queue.host), [](Worker& me) {
    finish(me);
    return true;
  });
}

bool execute(nigh_task_queue& queue) noexcept {
  auto const one = [](Worker& me) { return me.stack.top > me.stack.floor && me.host.run_top(me); };
  if (auto* const me = worker_of(queue)) return one(*me);
  return visit(visits.find(queue.host), one);
}

std::uint32_t steal(nigh_task_queue& queue) noexcept {
  visits.begin_other_tasks();
  auto const once = [](Worker& me) { return me.host.steal_once(me); };
  auto* const me = worker_of(queue);
  auto const n = me != nullptr ? once(*me) : visit(visits.find_or_open(queue), once);
  visits.end_other_tasks();
  return n;
}

// By a worker that takes it from a locality queue, or where that is full by the calling thread.
void run(nigh_task_queue& queue, Call const& what) {
  if (auto* const me = worker_of(queue)) {
    queue.counts_of(*me).put.add(1);
    auto* const base = me->stack.top;
    call(queue, what.f, what.in, what.out);
    return queue.host.finish_down_to(*me, base);
  }
  struct Root {
    nigh_task_queue& queue;
    Call const& what;
    sync::atomic<std::uint32_t> done{0};
  } root{queue, what};
  queue.elsewhere.put.fetch_add(1, sync::relaxed);
  queue.host.submit(near{}, detail::make_task([&root] {
                      {
                        detail::Frame const frame;
                        root.what.f(root.what.in, root.what.out);
                        wait(root.queue);
                      }
                      root.queue.elsewhere.finished.fetch_add(1, sync::release);  // (Q)
                      root.done.store(1, sync::release);
                      platform::futex_wake_all(root.done);
                    }));
  blocking_scope const others_may_use_this_cpu;
  while (root.done.load(sync::acquire) == 0) platform::futex_wait(root.done, 0);
}

}  // namespace nigh::tasks
