// SPDX-License-Identifier: Apache-2.0
#include "openmp/waiting.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

#include "base/try_lock.hpp"
#include "openmp/process.hpp"
#include "openmp/recycler.hpp"
#include "openmp/runtimes.hpp"
#include "openmp/thread.hpp"
#include "platform/futex.hpp"
#include "policy/cpus/team_waiting.hpp"
#include "preload/next.hpp"
#include "preload/places.hpp"

namespace nigh::openmp {
// (waiting.A) A thread that sees its order sees the body that it is to run.
// (waiting.B) The last holder of a ballast frees it, after all others have finished with it.
struct Ballast {
  enum Order : std::uint32_t { nothing_yet, work, go_home };
  struct Sleeper {
    Ballast* ballast;
    pthread_t thread;
    void* (*body)(void*);
    void* argument;
    sync::atomic<std::uint32_t> order;
  };
  Runtime const* runtime = nullptr;
  Sleeper* sleepers = nullptr;
  std::uint32_t count = 0;
  std::uint32_t taken = 0;
  sync::atomic<std::uint32_t> holders{1};
  sync::atomic<std::uint32_t> has_ended{0};
};

namespace {

constinit preload::Next next_create{"pthread_create"};
constinit preload::Next next_set_stack{"pthread_attr_setstacksize"};  // newer in newer libraries

// Nobody waits for them: libgomp's threads detach themselves, which has no effect here. The stack
// is enough for libgomp to wait in, and for pthread_exit(); untouched parts cost nothing.
bool set(pthread_attr_t& attributes) noexcept {
  constexpr std::size_t stack_bytes = std::size_t{256} << 10U;
  using SetStack = int(pthread_attr_t*, std::size_t);
  auto* const set_stack = reinterpret_cast<SetStack*>(next_set_stack.address());
  return set_stack != nullptr && set_stack(&attributes, stack_bytes) == 0 &&
         pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0;
}

void let_go(Ballast* b) noexcept {
  if (b->holders.fetch_sub(1, sync::acq_rel) == 1) free(b);  // (waiting.B)
}

void tell(sync::atomic<std::uint32_t>& word, std::uint32_t what) noexcept {
  word.store(what, sync::release);  // (waiting.A)
  platform::futex_wake_one(word);
}

std::uint32_t await(sync::atomic<std::uint32_t>& word) noexcept {
  for (;;) {
    auto const now = word.load(sync::acquire);  // (waiting.A)
    if (now != 0) return now;
    platform::futex_wait(word, 0);
  }
}

void name_me() noexcept { prctl(PR_SET_NAME, "nigh-ballast"); }

extern "C" void do_nothing(void*) {}

extern "C" void* sleep_for_libgomp(void* p) {
  auto* const me = static_cast<Ballast::Sleeper*>(p);
  name_me();
  bool const has_work = await(me->order) == Ballast::work;
  auto* const body = me->body;
  void* const argument = me->argument;
  let_go(me->ballast);
  return has_work ? body(argument) : nullptr;
}

// libgomp counts them as long as this thread has not ended.
extern "C" void* have_them_counted(void* p) {
  auto* const b = static_cast<Ballast*>(p);
  name_me();
  using Body = void(void*);
  using Parallel = void(Body*, void*, unsigned, unsigned);
  this_thread.ballast = b;
  if (b->runtime->set_dynamic != nullptr) b->runtime->set_dynamic(0);  // for this thread
  b->runtime->function<Parallel>(Entry::parallel)(do_nothing, nullptr, b->count + 1, 0);
  this_thread.ballast = nullptr;
  for (auto i = b->taken; i < b->count; ++i) tell(b->sleepers[i].order, Ballast::go_home);
  await(b->has_ended);
  let_go(b);
  return nullptr;
}

// libgomp ends its threads by pthread_exit(), which ends the program where it finds no unwinder.
bool can_end_threads() noexcept {
  return dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NODELETE) != nullptr;
}

Ballast* allocate(Runtime const& runtime, std::uint32_t threads) noexcept {
  void* const room = malloc(sizeof(Ballast) + threads * sizeof(Ballast::Sleeper));
  if (room == nullptr) return nullptr;
  auto* const b = new (room) Ballast;
  b->runtime = &runtime;
  b->sleepers = reinterpret_cast<Ballast::Sleeper*>(b + 1);
  for (std::uint32_t i = 0; i < threads; ++i)
    new (&b->sleepers[i]) Ballast::Sleeper{b, {}, nullptr, nullptr, {}};
  return b;
}
static_assert(sizeof(Ballast) % alignof(Ballast::Sleeper) == 0);

bool start_threads(Create* create, pthread_attr_t const& attributes, Ballast& b,
                   std::uint32_t threads) noexcept {
  for (; b.count < threads; ++b.count) {
    auto& sleeper = b.sleepers[b.count];
    b.holders.fetch_add(1, sync::relaxed);
    if (create(&sleeper.thread, &attributes, sleep_for_libgomp, &sleeper) == 0) continue;
    b.holders.fetch_sub(1, sync::relaxed);  // not the last: the caller has it
    return false;
  }
  b.holders.fetch_add(1, sync::relaxed);
  pthread_t first;
  if (create(&first, &attributes, have_them_counted, &b) != 0) {
    b.holders.fetch_sub(1, sync::relaxed);
    return false;
  }
  return true;
}

}  // namespace

Ballast* begin_ballast(Runtime const& runtime, std::uint32_t threads) noexcept {
  auto* const create = reinterpret_cast<Create*>(next_create.address());
  if (create == nullptr || runtime.function<void>(Entry::parallel) == nullptr || !can_end_threads())
    return nullptr;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return nullptr;
  Ballast* b = set(attributes) ? allocate(runtime, threads) : nullptr;
  if (b != nullptr) {
    preload::OnAllPlaces const here;
    sigset_t all, before;  // the program's handlers must not run on stacks as small as these
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);  // of this thread, on Linux
    bool const has_begun = start_threads(create, attributes, *b, threads);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    if (!has_begun) {
      for (std::uint32_t i = 0; i < b->count; ++i) tell(b->sleepers[i].order, Ballast::go_home);
      let_go(b);
      b = nullptr;
    }
  }
  pthread_attr_destroy(&attributes);
  return b;
}

void end(Ballast* b) noexcept {
  tell(b->has_ended, 1);
  let_go(b);
}

bool take_ballast(Ballast& b, pthread_t* thread, void* (*body)(void*), void* argument) noexcept {
  if (b.taken == b.count) return false;
  auto& sleeper = b.sleepers[b.taken++];
  *thread = sleeper.thread;
  sleeper.body = body;
  sleeper.argument = argument;
  tell(sleeper.order, Ballast::work);
  return true;
}

constinit sync::atomic<std::uint32_t> calm_runtimes{0};

namespace {

using policy::Waiting;

// Written before the program runs.
constinit bool adapts = false;
constinit bool is_passive = false;

// The waiting of one runtime. A thread that finds another one changing it leaves it alone.
struct State {
  base::TryLock changing;
  policy::TeamWaiting waiting{};
  Ballast* ballast = nullptr;
  std::uint32_t threads = 0;  // of the ballast
  bool has_room = true;       // for it
};
constinit std::array<State, most_runtimes> states{};

// Not more than a large host has cpus: others may make them, too.
constexpr std::uint32_t most_ballast = 512;

std::string_view value_of(char const* name) noexcept {
  char const* const value = getenv(name);
  return value == nullptr ? "" : value;
}

// Milliseconds do.
std::uint64_t about_now_ns() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_nsec);
}

bool is_coordinated(GrantedTeam const& granted) noexcept {
  return granted.size > 0 || (granted.fallback != coordinator::FallbackReason::no_coordinator &&
                              granted.fallback != coordinator::FallbackReason::foreign_version);
}

policy::Crowd crowd(Thread const& me, GrantedTeam const& granted, std::uint32_t threads) noexcept {
  policy::Crowd c{.threads = threads,
                  .granted = granted.size,
                  .allowed = own_cpus().count,
                  .is_coordinated = is_coordinated(granted)};
  if (me.preemptions_per_s > 0) {
    c.programs = programs_served();
    c.preemptions_per_s = me.preemptions_per_s;
  }
  return c;
}

bool is_libgomp(Runtime const& runtime) noexcept { return runtime.global_thread_num == nullptr; }

void drop_ballast(State& s) noexcept {
  if (s.ballast != nullptr) end(s.ballast);
  s.ballast = nullptr;
  s.threads = 0;
}

void add_ballast(State& s, Runtime const& runtime, std::uint32_t threads) noexcept {
  auto const needed = policy::ballast_threads(threads, own_cpus().count);
  if (needed <= s.threads || !s.has_room) return;
  drop_ballast(s);
  bool const may_have = needed <= most_ballast && needed < INT_MAX &&
                        runtime.thread_limit() > static_cast<int>(needed);
  if (may_have) s.ballast = begin_ballast(runtime, needed);
  s.has_room = s.ballast != nullptr;
  s.threads = s.has_room ? needed : 0;
}

// A setting that the program has made meanwhile stays.
void set_blocktime(Thread& me, Runtime const& runtime, Waiting now) noexcept {
  if (runtime.blocktime == nullptr || runtime.set_blocktime == nullptr) return;
  if (now == Waiting::calm && me.calmed == nullptr) {
    me.blocktime = runtime.blocktime();
    if (me.blocktime <= 0 || me.blocktime == INT_MAX) return;
    runtime.set_blocktime(0);
    me.calmed = &runtime;
  } else if (now == Waiting::quick && me.calmed == &runtime) {
    if (runtime.blocktime() == 0) runtime.set_blocktime(me.blocktime);
    me.calmed = nullptr;
  }
}

// Not by unsetenv(): programs such as bash have their own, which is not ready before main().
void drop_variable(char** environment, std::string_view name) noexcept {
  char** kept = environment;
  for (char** next = environment; *next != nullptr; ++next) {
    std::string_view const variable(*next);
    if (!variable.starts_with(name) || variable.substr(name.size(), 1) != "=") *kept++ = *next;
  }
  *kept = nullptr;
}

}  // namespace

void heed_the_programs_waiting(char** environment) noexcept {
  bool const is_of_nigh = !value_of(policy::own_blocktime_variable.data()).empty() &&
                          value_of(policy::blocktime_variable.data()) == policy::blocktime_ms;
  if (!is_of_nigh) return;
  bool const says_otherwise =
      std::ranges::any_of(policy::waiting_variables, [](std::string_view name) {
        return name != policy::blocktime_variable && !value_of(name.data()).empty();
      });
  if (!says_otherwise) return;
  for (auto const name : {policy::blocktime_variable, policy::own_blocktime_variable})
    drop_variable(environment, name);
}

void begin_waiting() noexcept {
  adapts = std::ranges::all_of(policy::waiting_variables, [](std::string_view name) {
    auto const value = value_of(name.data());
    bool const is_ours = name == policy::blocktime_variable && value == policy::blocktime_ms;
    return value.empty() || is_ours;
  });
  is_passive = strcasecmp(value_of("OMP_WAIT_POLICY").data(), "passive") == 0;
}

bool waits_passively() noexcept { return is_passive; }

void end_ballast() noexcept {
  for (auto& s : states) {
    if (!s.changing.try_lock()) continue;  // by a thread that ends later, and comes by here
    drop_ballast(s);
    s.changing.unlock();
  }
}

void drop_waiting() noexcept {
  calm_runtimes.store(0, sync::relaxed);
  for (auto& s : states) {  // there is one thread, and the threads of these are the parent's
    s.waiting = policy::TeamWaiting();
    s.ballast = nullptr;
    s.threads = 0;
    s.has_room = true;
    s.changing.reset();
  }
  this_thread.calmed = nullptr;
}

void look_at_waiting(Thread& me, Runtime const& runtime, GrantedTeam const& granted,
                     std::uint32_t threads) noexcept {
  if (!adapts) return;
  bool const crowded = is_crowded(crowd(me, granted, threads));
  if (!crowded && calm_runtimes.load(sync::relaxed) == 0 && me.calmed == nullptr) return;
  State& s = states[runtime.number];
  if (!s.changing.try_lock()) return;
  auto const before = s.waiting.now();
  auto const now = s.waiting.next(crowded, programs_served(), about_now_ns());
  if (before != now) calm_runtimes.fetch_add(now == Waiting::calm ? 1 : UINT32_MAX, sync::relaxed);
  if (!is_libgomp(runtime))
    set_blocktime(me, runtime, now);
  else if (crowded)
    add_ballast(s, runtime, threads);
  else if (now == Waiting::quick)
    drop_ballast(s);
  s.changing.unlock();
}

void watch_preemptions(Thread& me, std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t second_ns = 1'000'000'000, every_ns = second_ns / 4;
  auto const passed_ns = now_ns - me.watched_ns;
  if (passed_ns < every_ns || !adapts) return;
  rusage used;
  if (getrusage(RUSAGE_THREAD, &used) != 0) return;
  auto const count = static_cast<std::uint64_t>(used.ru_nivcsw);
  if (me.watched_ns != 0) {
    auto const per_s = (count - me.preemptions) * second_ns / passed_ns;
    bool const is_often = per_s > policy::WaitingPolicy{}.preemptions_per_s;
    me.preemptions_per_s = is_often ? static_cast<std::uint32_t>(per_s) : 0;
  }
  me.preemptions = count;
  me.watched_ns = now_ns;
}

}  // namespace nigh::openmp
