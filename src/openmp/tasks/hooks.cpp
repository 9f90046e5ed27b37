// SPDX-License-Identifier: Apache-2.0
// The functions that the library for regions calls in this one, and the line at the program's end.

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "openmp/printable_name.hpp"
#include "openmp/task_hooks.hpp"
#include "openmp/tasks/bound_member.hpp"
#include "openmp/tasks/decide.hpp"
#include "openmp/tasks/known_runtimes.hpp"
#include "openmp/tasks/near_data.hpp"
#include "openmp/tasks/real.hpp"
#include "openmp/tasks/settings.hpp"
#include "openmp/tasks/team.hpp"
#include "openmp/tasks/trace.hpp"
#include "openmp/tasks/waiting.hpp"
#include "platform/loaded_objects.hpp"
#include "platform/size_signal.hpp"
#include "platform/standard_error.hpp"

namespace nigh::openmp::tasks {
namespace {

static_assert(sizeof(Team) <= TaskHooks::room_bytes && alignof(Team) <= 64);

using NumThreads = int (*)();

struct KnownRuntime {
  NumThreads num_threads = nullptr;  // null: its tasks stay its own
  bool is_libgomp = false, is_first = false, shares_names = false;
  platform::LoadedObject code{};
  RealFunctions functions{};
};
constinit KnownRuntimes<KnownRuntime, 16> runtimes;
constinit pthread_mutex_t runtimes_lock = PTHREAD_MUTEX_INITIALIZER;

void look_up(KnownRuntime& known, void const* inside) noexcept {
  Dl_info in;
  known.code = platform::find_object(inside);
  if (dladdr(inside, &in) == 0 || in.dli_fname == nullptr) return;
  void* const object = dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (object == nullptr) return;
  // Another runtime may come first where the program's calls are looked up.
  auto const is_the_callers = [object](char const* name) {
    void* const next = dlsym(RTLD_NEXT, name);
    return next == nullptr || next == dlsym(object, name);
  };
  bool const is_libomp = dlsym(object, "__kmpc_fork_call") != nullptr;
  known.is_libgomp = !is_libomp;
  known.is_first = is_first_runtime(in.dli_fbase);
  find_all(object, known.is_first, known.functions);
  known.shares_names = !is_the_callers(is_libomp ? "__kmpc_omp_taskwait" : "GOMP_taskwait");
  if (known.shares_names) return;
  known.num_threads = reinterpret_cast<NumThreads>(dlsym(object, "omp_get_num_threads"));
}

// Null: there are too many.
KnownRuntime const* known_runtime(void const* inside) noexcept {
  if (auto const* const known = runtimes.find(inside); known != nullptr) return known;
  if (runtimes.is_full()) return nullptr;
  // Not under the lock: the thread that has it might wait for the loader, where another one, in
  // dlopen(), waits for the lock.
  KnownRuntime looked_up;
  look_up(looked_up, inside);
  pthread_mutex_lock(&runtimes_lock);
  auto const* const found = runtimes.find_or_add(
      inside, [&looked_up](KnownRuntime& known) noexcept { known = looked_up; });
  pthread_mutex_unlock(&runtimes_lock);
  return found;
}

// Of each code, whether earlier regions had tasks. Two codes that share a place are taken for one.
constinit std::array<sync::atomic<bool>, 1024> had_tasks{};
sync::atomic<bool>& had_tasks_at(void const* code) noexcept {
  auto const at = reinterpret_cast<std::uintptr_t>(code) >> 4U;
  return had_tasks[(at ^ at >> 10U) % had_tasks.size()];
}

// Of the calling thread: its part of a region of ours, while it is in one within it that is not.
// That thread begins no others of ours until then.
constinit thread_local Member* left_out = nullptr;

void* leave_out() noexcept {
  Member* const m = member;
  if (m != nullptr) {
    left_out = m;
    set_member(nullptr);
  }
  return m;
}

void come_back(void* m) noexcept {
  if (m == nullptr) return;
  set_member(static_cast<Member*>(m));
  left_out = nullptr;
}

struct Region {
  Team team;
  void const* runtime;  // an address inside
  void const* code;
};
static_assert(sizeof(Region) <= TaskHooks::room_bytes);

// For the line at the end: such a region was left to its runtime.
constinit sync::atomic<bool> has_gcc_on_libomp{false}, has_shared_names{false};

constinit sync::atomic<void const*> last_runtime{nullptr};
constinit platform::StandardError standard_error{};

void* begin(void* room, void const* inside, void const* code, std::uint32_t cpus,
            RunningLease* lease, bool is_kmpc) noexcept {
  if (last_runtime.load(sync::relaxed) != inside) last_runtime.store(inside, sync::relaxed);
  if (left_out != nullptr) return nullptr;
  if (member == nullptr && why_left_alone() != Left::none) return nullptr;
  KnownRuntime const* const runtime = known_runtime(inside);
  if (runtime == nullptr) return nullptr;
  if (runtime->num_threads == nullptr) {
    if (runtime->shares_names) has_shared_names.store(true, sync::relaxed);
    return nullptr;
  }
  // A program of gcc may have libomp for its runtime, which does not have all of libgomp.
  if (is_kmpc == runtime->is_libgomp) {
    has_gcc_on_libomp.store(true, sync::relaxed);
    return nullptr;
  }
  auto* const region = new (room) Region;
  region->team.count_threads = runtime->num_threads;
  region->team.is_libgomp = runtime->is_libgomp;
  region->team.is_first = runtime->is_first;
  region->runtime = inside;
  region->code = code;
  region->team.cpus.store(cpus, sync::relaxed);
  region->team.lease = lease;
  region->team.is_kmpc = is_kmpc;
  region->team.had_tasks = had_tasks_at(code).load(sync::relaxed);
  wait_elsewhere(region->team);
  return region;
}

void enter_region(void* p, std::uint32_t number, std::int32_t global_number) noexcept {
  Team& team = static_cast<Region*>(p)->team;
  auto const threads = static_cast<std::uint32_t>(team.count_threads());
  enter(team, {threads, number, global_number});
}

void leave_region() noexcept { leave(); }

void end_region(void* p) noexcept {
  auto& region = *static_cast<Region*>(p);
  if (!region.team.had_tasks && region.team.ever_shared.is_so())
    had_tasks_at(region.code).store(true, sync::relaxed);
  end(region.team);
}

// Of one thread. end_serial() frees it.
struct Serial {
  Region region;
  Serial* outer;
  bool is_ours;
  void* left_out;
};
constinit thread_local Serial* serial = nullptr;

void begin_serial(void const* inside, std::int32_t global_number) noexcept {
  void* const room = aligned_alloc(64, (sizeof(Serial) + 63) / 64 * 64);
  if (room == nullptr) abort();
  auto* const mine = new (room) Serial;
  mine->outer = serial;
  mine->is_ours = begin(&mine->region, inside, nullptr, 1, nullptr, true) != nullptr;
  mine->left_out = mine->is_ours ? nullptr : leave_out();
  serial = mine;
  if (mine->is_ours) enter(mine->region.team, {1, 0, global_number});
}

void end_serial() noexcept {
  auto* const mine = serial;
  if (mine == nullptr) return;
  serial = mine->outer;
  if (mine->is_ours) {
    leave();
    end_region(&mine->region);
  } else {
    come_back(mine->left_out);
  }
  free(mine);
}

char const* why(Left left) noexcept {
  switch (left) {
    case Left::cancellation:
      return "OMP_CANCELLATION lets tasks be cancelled";
    case Left::unbounded:
      return "KMP_ENABLE_TASK_THROTTLING lets any number of them wait";
    case Left::priorities:
      return "OMP_MAX_TASK_PRIORITY puts them in an order";
    case Left::device:
      return "it has target regions that may be tasks";
    case Left::tool:
      return "an OMPT tool sees its tasks";
    case Left::unknown_calls:
      return "it calls functions of libomp that nigh does not have";
    case Left::unknown_dependence:
      return "a task has a dependence of a kind that nigh does not know";
    case Left::none:
    case Left::unknown:
    case Left::switched_off:
    case Left::no_tasks:
      break;
  }
  return nullptr;
}

extern "C" void in_child() {
  runtimes_lock = PTHREAD_MUTEX_INITIALIZER;
  unlock_found_calls();
  reset_in_child();
  for (Member* m = left_out != nullptr ? left_out : member; m != nullptr; m = m->outer)
    m->number_in_libomp = -1;  // a child's libomp begins anew
  trace_child();
}

__attribute__((constructor)) void begin_process() {
  standard_error.note();
  begin_deciding();
  begin_patience();
  begin_near_data();
  begin_trace();
  pthread_atfork(nullptr, nullptr, in_child);
}

// A line on standard error.
void tell(Counts const& c) noexcept {
  using Number = unsigned long long;
  std::array<char, 512> line;
  std::size_t used = 0;
  auto const add = [&](char const* format, auto... values) {
    auto const n = snprintf(line.data() + used, line.size() - used, format, values...);
    if (n > 0) used = std::min(used + static_cast<std::size_t>(n), line.size() - 1);
  };
  Number stolen = 0;
  for (auto const at_level : c.stolen) stolen += at_level;
  add("nigh: %s: %llu tasks, %llu run at once, %llu stolen, %llu times asleep",
      printable_name().text(), Number{c.made}, Number{c.at_once}, stolen, Number{c.slept});
  char const* before = ", stolen";
  for (std::size_t l = 0; l < c.stolen.size(); ++l) {
    if (c.stolen[l] == 0) continue;
    add("%s within %s: %llu", before, level_names[l], Number{c.stolen[l]});
    before = ",";
  }
  if (c.near + c.far != 0)
    add(", %llu near their data, %llu elsewhere", Number{c.near}, Number{c.far});
  if (c.exchanged != 0) add(", %llu times on other cpus", Number{c.exchanged});
  fprintf(stderr, "%s\n", line.data());
}

__attribute__((destructor)) void tell_at_the_end() {
  write_trace();
  char const* const verbose = getenv("NIGH_VERBOSE");
  if (verbose == nullptr || *verbose == '\0' || strcmp(verbose, "0") == 0) return;
  if (!standard_error.is_kept()) return;
  platform::NoSizeSignal const here;
  if (char const* const left = why(why_left_alone()); left != nullptr) {
    fprintf(stderr, "nigh: %s: its tasks are left alone: %s\n", printable_name().text(), left);
    return;
  }
  auto const name = printable_name();
  if (has_gcc_on_libomp.load(sync::relaxed))
    fprintf(stderr, "nigh: %s: tasks of gcc's code are left alone: it runs on libomp\n",
            name.text());
  if (has_shared_names.load(sync::relaxed))
    fprintf(stderr, "nigh: %s: tasks of a runtime are left alone: another has the same names\n",
            name.text());
  if (Counts const c = counted(); c.made != 0) tell(c);
}

}  // namespace

Member* member_bound_to(void const* real) noexcept {
  KnownRuntime const* const runtime = runtimes.find(runtime_at_hand());
  return runtime != nullptr && runtime->code.holds(real) ? member : nullptr;
}

RealFunctions const* functions_of(void const* inside) noexcept {
  KnownRuntime const* const runtime = runtimes.find(inside);
  return runtime == nullptr ? nullptr : &runtime->functions;
}

RealFunctions const* functions_of_first(bool libgomp) noexcept {
  KnownRuntime const* const runtime = runtimes.find_if(
      [=](KnownRuntime const& known) { return known.is_first && known.is_libgomp == libgomp; });
  return runtime == nullptr ? nullptr : &runtime->functions;
}

void const* runtime_at_hand() noexcept {
  if (member != nullptr) return reinterpret_cast<Region const*>(member->team)->runtime;
  if (void const* const of_body = runtime_of_body(); of_body != nullptr) return of_body;
  return last_runtime.load(sync::relaxed);
}

}  // namespace nigh::openmp::tasks

extern "C" __attribute__((visibility("default"))) nigh::openmp::TaskHooks const NIGH_TASK_HOOKS{
    nigh::openmp::TaskHooks::current,  nigh::openmp::tasks::begin,
    nigh::openmp::tasks::enter_region, nigh::openmp::tasks::leave_region,
    nigh::openmp::tasks::end_region,   nigh::openmp::tasks::begin_serial,
    nigh::openmp::tasks::end_serial,   nigh::openmp::tasks::leave_out,
    nigh::openmp::tasks::come_back,    nigh::openmp::tasks::before_setting,
    nigh::openmp::tasks::after_setting};

NIGH_REAL(__kmpc_end_serialized_parallel)
NIGH_INTERPOSED void __kmpc_end_serialized_parallel(void* where, std::int32_t thread) {
  nigh::openmp::tasks::end_serial();
  NIGH_PASS_ON_FROM(where, __kmpc_end_serialized_parallel, where, thread);
}
