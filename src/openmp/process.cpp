// SPDX-License-Identifier: Apache-2.0
#include "openmp/process.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <new>
#include <utility>

#include "base/atomic.hpp"
#include "openmp/libraries.hpp"
#include "openmp/nested_plan.hpp"
#include "openmp/pools.hpp"
#include "openmp/printable_name.hpp"
#include "openmp/recycler.hpp"
#include "openmp/regions.hpp"
#include "openmp/runtimes.hpp"
#include "openmp/study.hpp"
#include "openmp/tool.hpp"
#include "openmp/waiting.hpp"
#include "platform/elf_functions.hpp"
#include "platform/own_stack.hpp"
#include "platform/size_signal.hpp"
#include "platform/standard_error.hpp"
#include "settings/kmp_affinity.hpp"

namespace nigh::openmp {

// Written by begin(), before the program runs, and in the child of a fork, which has one thread.
constinit Process this_process{};

namespace {

constinit pthread_key_t at_thread_end{};
constinit sync::atomic<std::uint32_t> threads_with_leases{0};
constinit sync::atomic<std::uint32_t> leaders_left{0};  // of these, those that have not ended

struct Counts {
  void reset() {
    for (auto* const count : {&regions, &leased}) count->store(0, sync::relaxed);
    for (auto& count : fallback) count.store(0, sync::relaxed);
    smallest.store(UINT32_MAX, sync::relaxed);
    largest.store(0, sync::relaxed);
  }
  sync::atomic<std::uint64_t> regions{0};
  sync::atomic<std::uint64_t> leased{0};
  std::array<sync::atomic<std::uint64_t>, coordinator::fallback_reasons> fallback{};
  sync::atomic<std::uint32_t> smallest{UINT32_MAX};
  sync::atomic<std::uint32_t> largest{0};
};
constinit Counts counts{};
constinit platform::StandardError standard_error{};

// Other keys' destructors may begin regions after this one.
extern "C" void thread_ends(void*) {
  Thread& me = this_thread;
  if (me.lease_client != nullptr && leaders_left.fetch_sub(1, sync::relaxed) == 1) {
    // The process may end with its last thread, after pthread_exit() in main(): ours end before.
    end_ballast();
    end_kept_members();
  }
  end(std::exchange(me.lease_client, nullptr));
  free(std::exchange(me.decisions, nullptr));
  me.plan = nullptr;
  drop_plans(me);
  end_pools(me);
  me.is_inside = false;  // it was cancelled there
  me.team = nullptr;
  me.has_ended = true;
}

// Other threads of the team are not there. The scopes of those regions may still end here, for what
// runs next is the rest of their bodies.
void leave_parents_regions(Thread& me) {
  me.is_forked_inside |= me.is_inside || me.is_worker;
  me.is_inside = false;
  me.is_worker = false;
  me.team = nullptr;
  me.forming = nullptr;
}

// The child has none of its parent's leases, and may run where the parent may. Once it begins
// regions, it is a program of its own. Only the thread that called fork() lives on; others may have
// held any lock, and a fork does not wait for those: a runtime that begins holds one of ours and
// calls pthread_atfork().
constinit bool is_main_forking = true;

extern "C" void before_fork() {
  is_main_forking = platform::is_main_thread();
  rest_pool_sizes();
}

extern "C" void in_child() {
  if (!this_process.acts) return;
  this_process.is_forked = true;
  // The times of a study are those of the process that began it.
  this_process.acts = study_team() == nullptr;
  drop_connection();
  drop_recycled();
  unlock_regions();
  unlock_runtimes();
  unlock_nests();
  drop_waiting();
  drop_calls_for_others();
  drop_pool_sizes();
  counts.reset();
  threads_with_leases.store(0, sync::relaxed);
  leaders_left.store(0, sync::relaxed);
  Thread& me = this_thread;
  if (me.lease_client != nullptr) {
    pthread_setspecific(at_thread_end, nullptr);
    end(me.lease_client);
    free(me.decisions);
  }
  me.lease_client = nullptr;
  me.decisions = nullptr;
  me.plan = nullptr;
  me.is_others_child = !is_main_forking;
  leave_parents_regions(me);
  unpin(me);
}

// A user who lists cpus for the runtime has decided where threads go, unless they are not bound to
// them.
char const* binding_of_the_user() {
  char const* const binds = getenv("OMP_PROC_BIND");
  bool const is_free = binds != nullptr && strcasecmp(binds, "false") == 0;
  for (char const* name : {"OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"}) {
    char const* const value = getenv(name);
    if (is_free && strncmp(name, "OMP_", 4) == 0) continue;
    if (value == nullptr || *value == '\0') continue;
    if (strcmp(name, "KMP_AFFINITY") == 0 && !settings::kmp_affinity_binds(value)) continue;
    return name;
  }
  return nullptr;
}

// `nigh run` names the process of the user's program: either nigh became it ("self:PID"), or nigh
// is its parent ("parent:PID").
bool is_helper() {
  char const* const told = getenv("NIGH_VERBOSE_PROGRAM");
  if (told == nullptr) return false;
  char const* const number = strchr(told, ':');
  if (number == nullptr) return false;
  auto const named = strtol(number + 1, nullptr, 10);
  return named != (strncmp(told, "parent", 6) == 0 ? getppid() : getpid());
}

void say(char const* what) { fprintf(stderr, "nigh: %s: %s\n", printable_name().text(), what); }

// As runtimes read it: false only differs from true and from nothing.
bool is_false(char const* name) {
  char const* const value = getenv(name);
  if (value == nullptr) return false;
  for (char const* const no : {"false", ".false.", "no", "off", "0"})
    if (strcasecmp(value, no) == 0) return true;
  return false;
}

// Sets `acts`, unless something speaks against it.
void set_up() {
  char const* const verbose = getenv("NIGH_VERBOSE");
  this_process.tells = verbose != nullptr && *verbose != '\0' && strcmp(verbose, "0") != 0;
  this_process.is_helper = is_helper();
  begin_adjust();
  this_process.fixes_teams = is_false("OMP_DYNAMIC");
  forget_regions();  // regions begun before were looked up without the user's word
  if (char const* const by = binding_of_the_user(); by != nullptr) {
    if (this_process.tells)
      fprintf(stderr, "nigh: %s: %s says where threads go; left alone\n", printable_name().text(),
              by);
    return;
  }
  if (char const* const tool = tool_of_the_user(); tool != nullptr) {
    if (this_process.tells)
      fprintf(stderr, "nigh: %s: %s; left alone\n", printable_name().text(), tool);
    return;
  }
  if (!begin_own_cpus()) return;
  auto const& own = own_cpus();
  if (char const* const wrong = begin_study(own.allowed, own.count); wrong != nullptr) say(wrong);
  if (char const* const wrong = begin_nests(); wrong != nullptr) say(wrong);
  begin_waiting();
  this_process.waits_awake = is_spreading() && !waits_passively();
  if (pthread_key_create(&at_thread_end, thread_ends) != 0) return;
  if (pthread_atfork(before_fork, nullptr, in_child) != 0) return;
  this_process.acts = true;
}

// The dynamic loader passes the arguments of main().
__attribute__((constructor)) void begin(int, char**, char** environment) {
  standard_error.note();
  heed_the_programs_waiting(environment);
  set_up();
  begin_pool_sizes();
}

// Runtimes are known from the first region on. Nobody wants to hear of helpers without OpenMP:
// null.
char const* why_no_runtime() {
  for (Entry const entry : {Entry::parallel, Entry::fork_call})
    if (dlsym(RTLD_NEXT, name_of(entry)) != nullptr)
      return "no parallel regions of more than one thread";
  if (dlsym(RTLD_DEFAULT, "nigh_version") != nullptr)
    return "no OpenMP found; its nigh runtimes share the cpus by themselves";
  switch (platform::defines_any("/proc/self/exe", platform::openmp_functions)) {
    case platform::Defined::no:
      return this_process.is_helper ? nullptr : "no OpenMP found";
    case platform::Defined::yes:
      return "its OpenMP runtime is linked statically: regions cannot be seen";
    case platform::Defined::unknown:
      break;
  }
  return this_process.is_helper
             ? nullptr
             : "no OpenMP found (without symbols: a static runtime would not be seen)";
}

// "; without: 12 no coordinator, 3 the coordinator refused"
void tell_without(ToldLine& line) {
  char const* between = "; without: ";
  for (int i = 0; i < coordinator::fallback_reasons; ++i) {
    auto const regions = counts.fallback[static_cast<std::size_t>(i)].load(sync::relaxed);
    if (regions == 0) continue;
    line.add("%s%llu %s", between, static_cast<unsigned long long>(regions),
             to_string(static_cast<coordinator::FallbackReason>(i)));
    between = ", ";
  }
}

__attribute__((destructor)) void tell() {
  if (this_process.acts) {
    end_study();
    save_nests();
  }
  if (!this_process.tells || !standard_error.is_kept()) return;
  platform::NoSizeSignal const here;
  auto const regions = counts.regions.load(sync::relaxed);
  auto const leased = counts.leased.load(sync::relaxed);
  if (this_process.is_forked && regions == 0) return;
  if (!this_process.is_helper || any_runtime() != nullptr) {
    tell_pools();
    tell_pool_sizes();
  }
  if (any_runtime() == nullptr) {
    if (char const* const why = why_no_runtime(); why != nullptr) say(why);
    if (this_process.acts && !this_process.is_helper) tell_absent_libraries();
    return;
  }
  if (regions == 0) {
    if (!this_process.is_helper) say("no parallel regions of more than one thread");
  } else {
    ToldLine line;
    line.add("nigh: %s: %llu region%s, %llu on granted cpus", printable_name().text(),
             static_cast<unsigned long long>(regions), regions == 1 ? "" : "s",
             static_cast<unsigned long long>(leased));
    if (leased > 0)
      line.add(" (%u to %u of %u)", counts.smallest.load(sync::relaxed),
               counts.largest.load(sync::relaxed), own_cpus().count);
    tell_without(line);
  }
  if (!this_process.acts) return;
  tell_absent_libraries();
  tell_nests();
}

}  // namespace

void count_region(GrantedTeam const& granted) noexcept {
  counts.regions.fetch_add(1, sync::relaxed);
  if (granted.size == 0) {
    counts.fallback[static_cast<std::size_t>(granted.fallback)].fetch_add(1, sync::relaxed);
    return;
  }
  counts.leased.fetch_add(1, sync::relaxed);
  auto low = counts.smallest.load(sync::relaxed);
  while (granted.size < low &&
         !counts.smallest.compare_exchange_weak(low, granted.size, sync::relaxed)) {
  }
  auto high = counts.largest.load(sync::relaxed);
  while (granted.size > high &&
         !counts.largest.compare_exchange_weak(high, granted.size, sync::relaxed)) {
  }
}

namespace {

// Whether the main thread is on a coroutine's stack, which may be small: to read where its own is
// takes much of one.
bool is_elsewhere(Thread const& me) noexcept {
  return !me.is_others_child && platform::is_main_thread() &&
         !platform::main_stack().holds(__builtin_frame_address(0));
}

}  // namespace

bool has_room_on_unknown_stack(Thread& me) noexcept {
  if (is_elsewhere(me)) return false;
  me.stack = platform::own_stack();
  return true;
}

bool give_lease_client(Thread& me) noexcept {
  if (me.has_ended) return unpin(me), false;
  void* const room = malloc(sizeof(Decisions));
  auto* const client = room == nullptr ? nullptr : new_lease_client(own_cpus().allowed);
  if (client == nullptr || pthread_setspecific(at_thread_end, client) != 0) {
    if (client != nullptr) end(client);
    free(room);
    return false;
  }
  me.lease_client = client;
  me.decisions = new (room) Decisions;
  leaders_left.fetch_add(1, sync::relaxed);
  me.number = 1 + threads_with_leases.fetch_add(1, sync::relaxed);
  return true;
}

}  // namespace nigh::openmp
