// SPDX-License-Identifier: Apache-2.0
#include "openmp/pools.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/try_lock.hpp"
#include "openmp/connection.hpp"
#include "openmp/libraries.hpp"
#include "openmp/printable_name.hpp"
#include "openmp/process.hpp"
#include "policy/cpus/pool_size.hpp"
#include "preload/next.hpp"
#include "settings/thread_pools.hpp"

namespace nigh::openmp {
constinit sync::atomic<std::uint32_t> pools_that_follow{0};

namespace {

using settings::PoolSetter;

struct Pool {
  PoolSetter const* kind = nullptr;
  void const* object = nullptr;  // where its library is
  void (*set)(long) = nullptr;   // an int is in the same register
  int (*get)() = nullptr;
  policy::PoolSize size{};
  bool has_threads = false;
  bool may_follow = false;
  int smallest = 0;  // 0: not looked at
  int largest = 0;
};

constexpr std::size_t most_pools = 8;  // further pools keep their sizes

// Only the first thread changes the following; others only make the program one of several threads.
constinit std::array<Pool, most_pools> pools{};
constinit std::size_t count = 0;
constinit pid_t first_thread = 0;  // 0: the program does not run yet
constinit bool has_begun = false;
constinit sync::atomic<bool> has_ended{false};
constinit sync::atomic<bool> has_own_threads{false};
constinit base::TryLock changing;
constinit preload::Next next_dlclose{"dlclose"};

pid_t this_thread_id() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

// Before we have begun, only this is known: has the user said anything?
bool may_matter() noexcept {
  if (has_begun) return process().acts && pools_may_follow();
  char const* const list = getenv("NIGH_ADJUST");
  return list != nullptr && *list != '\0';
}

// After vfork() it is another process, though all the memory is the same.
bool is_first_thread() noexcept {
  return this_thread_id() == (first_thread != 0 ? first_thread : getpid());
}

// The object's own function, not that of a library it is linked to.
void* own_function(void* handle, void const* object, char const* prefix, char const* name,
                   char const* suffix) noexcept {
  char whole[96];
  snprintf(whole, sizeof whole, "%s%s%s", prefix, name, suffix);
  void* const found = dlsym(handle, whole);
  Dl_info in;
  bool const is_own = found != nullptr && dladdr(found, &in) != 0 && in.dli_fbase == object;
  return is_own ? found : nullptr;
}

bool find_functions(Pool& pool, void* handle) noexcept {
  for (PoolSetter const& kind : settings::pool_setters)
    for (char const* const prefix : settings::setter_prefixes)
      for (char const* const suffix : settings::setter_suffixes) {
        void* const set = own_function(handle, pool.object, prefix, kind.set, suffix);
        void* const get = own_function(handle, pool.object, prefix, kind.get, suffix);
        if (set == nullptr || get == nullptr) continue;
        pool.kind = &kind;
        pool.set = reinterpret_cast<void (*)(long)>(set);
        pool.get = reinterpret_cast<int (*)()>(get);
        return true;
      }
  return false;
}

// Null: it is the library of no pool, or of one too many. The library stays loaded; otherwise
// another one could come to lie at its address and be taken for it.
Pool* new_pool(Dl_info const& in) noexcept {
  if (count == most_pools) return nullptr;
  void* const handle = dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  Pool& pool = pools[count];
  pool.object = in.dli_fbase;
  bool const is_one = find_functions(pool, handle) &&
                      dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != nullptr;
  reinterpret_cast<int (*)(void*)>(next_dlclose.address())(handle);
  if (!is_one) return nullptr;
  ++count;
  return &pool;
}

// A call at the very end of a process could begin again a pool that has ended.
extern "C" void no_more() { has_ended.store(true, sync::relaxed); }

// For a pool that makes threads, once the shim acts. Nothing of ours is called within it: its
// threads exist only when it returns, and joining may close descriptors.
void begin_to_follow(Pool& pool) noexcept {
  Dl_info in;
  if (dladdr(reinterpret_cast<void const*>(pool.set), &in) == 0 || in.dli_fname == nullptr) return;
  if (!may_follow(pool.kind->word, in.dli_fname)) return;
  if (!pool.may_follow && atexit(no_more) != 0) return;
  join_coordinator(own_cpus().allowed);
  pool.may_follow = true;
  pools_that_follow.fetch_add(1, sync::relaxed);
}

bool is_idle_moment() noexcept {
  Thread const& me = this_thread;
  return !me.is_inside && !me.is_worker && !has_own_threads.load(sync::relaxed) &&
         !has_ended.load(sync::relaxed) && is_first_thread();
}

void note(Pool& pool, int size) noexcept {
  pool.smallest = pool.smallest == 0 ? size : std::min(pool.smallest, size);
  pool.largest = std::max(pool.largest, size);
}

// A thread that finds another one at it (a signal handler may interrupt that one) changes nothing.
template <class Wanted>
void change(bool may_lock, Wanted&& wanted) noexcept {
  if (!changing.try_lock()) return;
  for (std::size_t i = 0; i < count; ++i) {
    Pool& pool = pools[i];
    if (!pool.may_follow || !pool.has_threads || (pool.kind->may_lock && !may_lock)) continue;
    int const now = pool.get();
    if (now < 1) continue;
    int const size = wanted(pool, now);
    if (size != now) {
      pool.set(size);
      pool.size.was_set(pool.get());
    }
    note(pool, size);
  }
  changing.unlock();
}

void begin_own_threads() noexcept {
  if (pools_that_follow.load(sync::relaxed) != 0 && is_idle_moment())
    change(true, [](Pool& pool, int now) { return pool.size.restored(now); });
  has_own_threads.store(true, sync::relaxed);
}

}  // namespace

void thread_is_made(void const* caller) noexcept {
  if (!may_matter() || has_own_threads.load(sync::relaxed)) return;
  int const said = errno;
  Dl_info in;
  bool const is_known = dladdr(caller, &in) != 0 && in.dli_fname != nullptr;
  Pool* pool = nullptr;
  if (is_known && is_first_thread()) {
    for (std::size_t i = 0; i < count; ++i)
      if (pools[i].object == in.dli_fbase) pool = &pools[i];
    if (pool == nullptr) pool = new_pool(in);
  }
  if (pool == nullptr) {
    begin_own_threads();
  } else if (!pool->has_threads) {
    if (has_begun) begin_to_follow(*pool);
    pool->has_threads = true;
  }
  errno = said;
}

void begin_pool_sizes() noexcept {
  has_begun = true;
  first_thread = getpid();
  if (!may_matter()) return;
  for (std::size_t i = 0; i < count; ++i)
    if (pools[i].has_threads) begin_to_follow(pools[i]);
  adapt_pools();
}

void look_at_pools(bool may_lock) noexcept {
  if (!is_idle_moment()) return;
  int const said = errno;
  auto const cpus = own_cpus().count;
  auto const programs = programs_served_now();
  change(may_lock, [&](Pool& pool, int now) { return pool.size.wanted(now, cpus, programs); });
  errno = said;
}

void rest_pool_sizes() noexcept {
  if (count == 0 || has_own_threads.load(sync::relaxed) || !is_first_thread()) return;
  for (auto& pool : pools) pool.has_threads = false;
  pools_that_follow.store(0, sync::relaxed);
}

void drop_pool_sizes() noexcept {
  for (auto& pool : pools) {
    pool.has_threads = false;
    pool.smallest = pool.largest = 0;
  }
  pools_that_follow.store(0, sync::relaxed);
  has_own_threads.store(false, sync::relaxed);
  changing.reset();
  first_thread = getpid();
}

void tell_pool_sizes() noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    Pool const& pool = pools[i];
    if (!pool.may_follow) continue;
    ToldLine line;
    line.add("nigh: %s: %.*s ", printable_name().text(), static_cast<int>(pool.kind->pool.size()),
             pool.kind->pool.data());
    if (has_own_threads.load(sync::relaxed))
      line.add("keeps its size: the program makes threads of its own");
    else if (pool.largest == 0)
      line.add("kept its size");
    else
      line.add("followed its part of the cpus: %d to %d of %d threads", pool.smallest, pool.largest,
               pool.size.own());
  }
}

namespace {

using settings::ThreadPool;

struct Found {
  std::array<ThreadPool const*, settings::thread_pools.size() + 1> pools{};
  std::size_t count = 0;
};

bool needs_openmp(dl_phdr_info const& object, ElfW(Phdr) const& dynamic) {
  auto const* const entries =
      reinterpret_cast<ElfW(Dyn) const*>(object.dlpi_addr + dynamic.p_vaddr);
  char const* strings = nullptr;
  for (auto const* e = entries; e->d_tag != DT_NULL; ++e)
    // The loader has put an address there, but not for every object (such as the kernel's own
    // page).
    if (e->d_tag == DT_STRTAB && e->d_un.d_ptr >= object.dlpi_addr)
      strings = reinterpret_cast<char const*>(e->d_un.d_ptr);
  if (strings == nullptr) return false;
  for (auto const* e = entries; e->d_tag != DT_NULL; ++e)
    if (e->d_tag == DT_NEEDED && settings::is_openmp_runtime(strings + e->d_un.d_val)) return true;
  return false;
}

bool holds_rayon(dl_phdr_info const& object, ElfW(Phdr) const& segment) {
  if ((segment.p_flags & PF_R) == 0 || (segment.p_flags & (PF_W | PF_X)) != 0) return false;
  auto const* const bytes = reinterpret_cast<char const*>(object.dlpi_addr + segment.p_vaddr);
  return settings::holds_rayon({bytes, segment.p_filesz});
}

int look_at(dl_phdr_info* object, std::size_t, void* p) {
  auto& found = *static_cast<Found*>(p);
  settings::LoadedFile loaded{object->dlpi_name != nullptr ? object->dlpi_name : ""};
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    auto const& segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_DYNAMIC) loaded.needs_openmp |= needs_openmp(*object, segment);
    if (segment.p_type == PT_LOAD) loaded.holds_rayon |= holds_rayon(*object, segment);
  }
  ThreadPool const* const pool = settings::pool_in(loaded);
  if (pool == nullptr) return 0;
  for (std::size_t i = 0; i < found.count; ++i)
    if (found.pools[i]->name == pool->name) return 0;
  if (found.count < found.pools.size()) found.pools[found.count++] = pool;
  return 0;
}

}  // namespace

void tell_pools() noexcept {
  Found found;
  dl_iterate_phdr(look_at, &found);
  if (found.count == 0) return;
  fprintf(stderr, "nigh: %s: threads on no granted cpus:", printable_name().text());
  for (std::size_t i = 0; i < found.count; ++i) {
    ThreadPool const& pool = *found.pools[i];
    fprintf(stderr, "%s %.*s", i == 0 ? "" : ",", static_cast<int>(pool.name.size()),
            pool.name.data());
    if (!pool.variable.empty())
      fprintf(stderr, " (%.*s)", static_cast<int>(pool.variable.size()), pool.variable.data());
  }
  fprintf(stderr, "\n");
}

}  // namespace nigh::openmp
