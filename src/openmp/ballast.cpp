// SPDX-License-Identifier: Apache-2.0
#include "openmp/ballast.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include <new>

#include "openmp/recycler.hpp"
#include "openmp/runtimes.hpp"
#include "openmp/thread.hpp"
#include "platform/futex.hpp"
#include "preload/next.hpp"
#include "preload/places.hpp"

namespace nigh::openmp {

// (A) A thread that sees its order sees the body that it is to run.
// (B) The last one that lets go of a ballast frees it, after all others have done with it.
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
// is enough for libgomp to wait in, and for pthread_exit(); what is not touched costs nothing.
bool set(pthread_attr_t& attributes) noexcept {
  constexpr std::size_t stack_bytes = std::size_t{256} << 10U;
  using SetStack = int(pthread_attr_t*, std::size_t);
  auto* const set_stack = reinterpret_cast<SetStack*>(next_set_stack.address());
  return set_stack != nullptr && set_stack(&attributes, stack_bytes) == 0 &&
         pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0;
}

void let_go(Ballast* b) noexcept {
  if (b->holders.fetch_sub(1, sync::acq_rel) == 1) free(b);  // (B)
}

void tell(sync::atomic<std::uint32_t>& word, std::uint32_t what) noexcept {
  word.store(what, sync::release);  // (A)
  platform::futex_wake_one(word);
}

std::uint32_t await(sync::atomic<std::uint32_t>& word) noexcept {
  for (;;) {
    auto const now = word.load(sync::acquire);  // (A)
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
  if (b->runtime->set_dynamic != nullptr) b->runtime->set_dynamic(0);  // of this thread
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
    sigset_t all, before;  // the program's handlers are not to run on stacks as small as these
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

}  // namespace nigh::openmp
