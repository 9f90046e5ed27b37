// SPDX-License-Identifier: Apache-2.0
// The functions of nigh.h: what they refuse, with which message.

#include <nigh/nigh.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

#include "base/race_detector.hpp"
#include "runtime/refusal.hpp"
#include "runtime/task_queue.hpp"

namespace {

using nigh::tasks::Call;
using nigh::tasks::refuse;

thread_local char message[256] = "";

int check(nigh_task_queue const* queue, char const* function) noexcept {
  if (queue == nullptr) return refuse(NIGH_BAD_ARGUMENT, function, "the queue is NULL");
  if (nigh::tasks::worker_of(*queue) == nullptr && queue->host.pool().is_inherited())
    return refuse(NIGH_FORKED, function,
                  "the queue was allocated before fork(): it has no workers in this process");
  return NIGH_OK;
}

int check(nigh_task_queue const* queue, Call const& call, char const* function) noexcept {
  if (call.f == nullptr) return refuse(NIGH_BAD_ARGUMENT, function, "the function is NULL");
  if (call.in == nullptr && call.in_bytes > 0)
    return refuse(NIGH_BAD_ARGUMENT, function, "the input is NULL, but not of 0 bytes");
  return check(queue, function);
}

// The caller's struct as this library knows it: members that an older program lacks are zero, and
// members that only a newer one has must be zero.
template <class Struct>
Struct as_known(Struct const& from) {
  auto const size = from.size;
  constexpr std::size_t most = 4096;  // of any version to come
  if (size < sizeof from.size + 1 || size > most)
    throw std::invalid_argument("size is " + std::to_string(size) +
                                "; it has to be that of the struct");
  auto const* const bytes = reinterpret_cast<char const*>(&from);
  if (size > sizeof(Struct) &&
      std::any_of(bytes + sizeof(Struct), bytes + size, [](char c) { return c != 0; }))
    throw std::invalid_argument("a field is set that this version of nigh does not know");
  Struct known{};
  std::memcpy(&known, &from, std::min(size, sizeof known));
  return known;
}

template <class Choice, std::size_t n>
Choice chosen(char const* field, int number, Choice const (&choices)[n]) {
  if (number < 0 || static_cast<std::size_t>(number) >= n)
    throw std::invalid_argument(std::string(field) + " is " + std::to_string(number) +
                                ", not in 0 .. " + std::to_string(n - 1));
  return choices[number];
}

nigh_task_queue* allocate(nigh_options const& given) {
  using nigh::chunk_choice, nigh::victim_choice;
  nigh_options const from = as_known(given);
  nigh::runtime_options options;
  std::unique_ptr<nigh::topology> machine;
  if (from.synthetic != nullptr) {
    auto made = nigh::topology::from_synthetic(from.synthetic);
    if (!made) throw std::invalid_argument("synthetic: " + made.message());
    machine = std::make_unique<nigh::topology>(*std::move(made));
    options.machine = machine.get();
  }
  options.workers = from.workers;
  options.victims =
      chosen("victims", from.victims,
             {victim_choice::hierarchical, victim_choice::ring, victim_choice::random});
  options.chunks = chosen("chunks", from.chunks,
                          {chunk_choice::hierarchical, chunk_choice::one, chunk_choice::half});
  options.depth_cutoff = from.depth_cutoff;
  options.queue_cutoff = from.queue_cutoff;
  if (from.task_capacity != 0) options.task_capacity = from.task_capacity;
  if (from.stack_bytes != 0) options.thread_stack_bytes = from.stack_bytes;
  return new nigh_task_queue(std::move(machine), options);
}

}  // namespace

int nigh::tasks::refuse(nigh_status status, char const* function, char const* why) noexcept {
  std::snprintf(message, sizeof message, "%s: %s", function, why);
  // One line, though it may have a text of the caller's.
  for (char& c : message)
    if (c > 0 && c < ' ') c = '?';
  return status;
}

nigh_task_queue* nigh_task_queue_allocate(nigh_options const* options) noexcept {
  constexpr auto me = "nigh_task_queue_allocate";
  try {
    if (options != nullptr) return allocate(*options);
    return new nigh_task_queue(nigh::detail::default_scheduler());
  } catch (std::exception const& e) {
    std::string_view why = e.what();
    // An option goes by the name that it has here.
    for (std::string_view const theirs : {"runtime_options::", "thread_"})
      if (why.starts_with(theirs)) why.remove_prefix(theirs.size());
    refuse(NIGH_BAD_ARGUMENT, me, why.data());
  } catch (...) {
    refuse(NIGH_BAD_ARGUMENT, me, "failed");
  }
  return nullptr;
}

int nigh_task_queue_free(nigh_task_queue* queue) noexcept {
  constexpr auto me = "nigh_task_queue_free";
  if (queue == nullptr) return NIGH_OK;
  if (!queue->host.pool().is_inherited()) {
    if (!queue->empty()) return refuse(NIGH_BUSY, me, "the queue has tasks that have not finished");
    bool const is_held = queue->slots_held.load(nigh::sync::acquire) > 0;  // (task_queue.L)
    nigh::base::announce_acquire(&queue->slots_held);
    if (is_held)
      return refuse(NIGH_BUSY, me, "a thread has put tasks and not called nigh_wait()");
  }
  delete queue;
  return NIGH_OK;
}

int nigh_put(nigh_task_queue* queue, nigh_function f, void const* in, std::size_t in_bytes,
             void* out) noexcept {
  Call const call{f, in_bytes > 0 ? in : nullptr, in_bytes, out};
  if (int const wrong = check(queue, call, "nigh_put")) return wrong;
  nigh::tasks::put(*queue, call);
  return NIGH_OK;
}

int nigh_wait(nigh_task_queue* queue) noexcept {
  if (int const wrong = check(queue, "nigh_wait")) return wrong;
  nigh::tasks::wait(*queue);
  return NIGH_OK;
}

int nigh_execute(nigh_task_queue* queue) noexcept {
  if (int const wrong = check(queue, "nigh_execute")) return wrong;
  return nigh::tasks::execute(*queue) ? 1 : 0;
}

int nigh_steal(nigh_task_queue* queue) noexcept {
  if (int const wrong = check(queue, "nigh_steal")) return wrong;
  return static_cast<int>(nigh::tasks::steal(*queue));
}

int nigh_is_empty(nigh_task_queue* queue) noexcept {
  if (int const wrong = check(queue, "nigh_is_empty")) return wrong;
  return queue->empty() ? 1 : 0;
}

int nigh_run(nigh_task_queue* queue, nigh_function f, void const* in, std::size_t in_bytes,
             void* out) noexcept {
  Call const call{f, in_bytes > 0 ? in : nullptr, in_bytes, out};
  if (int const wrong = check(queue, call, "nigh_run")) return wrong;
  nigh::tasks::run(*queue, call);
  return NIGH_OK;
}

int nigh_workers(nigh_task_queue const* queue) noexcept {
  if (int const wrong = check(queue, "nigh_workers")) return wrong;
  return queue->host.pool().layout.workers();
}

int nigh_worker_index() noexcept { return nigh::this_worker::index(); }

int nigh_read_counters(nigh_task_queue const* queue, nigh_counters* counters) noexcept {
  constexpr auto me = "nigh_read_counters";
  if (int const wrong = check(queue, me)) return wrong;
  if (counters == nullptr) return refuse(NIGH_BAD_ARGUMENT, me, "the counters are NULL");
  if (counters->size <= sizeof counters->size)
    return refuse(NIGH_BAD_ARGUMENT, me, "counters->size has to be sizeof(nigh_counters)");
  try {
    nigh_counters now{};
    now.size = counters->size;
    now.finished = queue->finished_so_far();
    now.put = queue->put_so_far();
    now.serialized = queue->elsewhere.serialized.load(nigh::sync::relaxed);
    for (auto const& c : queue->counts) {
      now.serialized += c.serialized.get();
      now.allocated += c.allocated.get();
    }
    for (auto const& w : queue->host.counters()) {
      now.steals += w.steals;
      now.stolen += w.stolen;
      now.failed_steals += w.failed_steals;
      now.parked += w.parked;
    }
    std::memcpy(counters, &now, std::min(counters->size, sizeof now));
  } catch (std::exception const& e) {
    return refuse(NIGH_BAD_ARGUMENT, me, e.what());
  }
  return NIGH_OK;
}

char const* nigh_error() noexcept { return message; }
