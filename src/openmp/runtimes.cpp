// SPDX-License-Identifier: Apache-2.0
#include "openmp/runtimes.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/atomic.hpp"
#include "coordinator/protocol/region_id.hpp"
#include "openmp/regions.hpp"
#include "openmp/thread.hpp"
#include "platform/uncancelled.hpp"
#include "preload/next.hpp"
#include "preload/places.hpp"

namespace nigh::openmp {
namespace {

constexpr std::array<char const*, entries> names{
    "GOMP_parallel",
    "GOMP_parallel_reductions",
    "GOMP_parallel_sections",
    "GOMP_parallel_loop_static",
    "GOMP_parallel_loop_dynamic",
    "GOMP_parallel_loop_guided",
    "GOMP_parallel_loop_runtime",
    "GOMP_parallel_loop_nonmonotonic_dynamic",
    "GOMP_parallel_loop_nonmonotonic_guided",
    "GOMP_parallel_loop_nonmonotonic_runtime",
    "GOMP_parallel_loop_maybe_nonmonotonic_runtime",
    "__kmpc_fork_call",
    "__kmpc_fork_call_if",
    "__kmpc_push_num_threads",
    "__kmpc_push_num_threads_strict",
    "__kmpc_push_num_threads_list",
    "__kmpc_push_num_threads_list_strict",
    "__kmpc_serialized_parallel",
    "omp_set_max_active_levels",
    "omp_set_nested",
    "omp_set_max_active_levels_",
    "omp_set_nested_",
    "omp_set_max_active_levels_8_",
    "omp_set_nested_8_",
    "omp_set_dynamic",
    "omp_set_num_threads",
    "omp_get_dynamic",
    "omp_set_dynamic_",
    "omp_set_num_threads_",
    "omp_get_dynamic_",
    "omp_set_dynamic_8_",
    "omp_set_num_threads_8_",
};

// Few, never removed; written under the lock.
constinit std::array<Runtime, most_runtimes> runtimes{};
constinit sync::atomic<std::size_t> count{0};
// Of each entry, the runtime that the program began with: libraries that are opened later come
// behind it. So it is looked up once, and no thread waits for one in dlopen().
constinit std::array<sync::atomic<Runtime const*>, entries> next_runtimes{};
constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
constinit void const* first_runtime = nullptr;  // the object of that one

// Without one, a library that is opened for all (RTLD_GLOBAL) may bring one that then comes next. A
// library that has called its own by then goes on with it, for the loader has bound its other
// calls.
struct Bound {
  std::uintptr_t object = 0;  // where it begins
  std::uint32_t name = 0;     // another library may come to lie there
  Runtime const* runtime = nullptr;
};
constinit std::array<Bound, 256> bound{};
constinit std::size_t bound_count = 0;
constinit pthread_mutex_t bound_lock = PTHREAD_MUTEX_INITIALIZER;

Bound const* find_bound(platform::LoadedObject const& in) noexcept {  // under bound_lock
  auto const name = coordinator::library_number(in.file);
  for (std::size_t i = 0; i < bound_count; ++i)
    if (bound[i].object == in.begin && bound[i].name == name) return &bound[i];
  return nullptr;
}

Runtime const* bound_runtime(platform::LoadedObject const& in) noexcept {
  pthread_mutex_lock(&bound_lock);
  Bound const* const found = find_bound(in);
  Runtime const* const runtime = found == nullptr ? nullptr : found->runtime;
  pthread_mutex_unlock(&bound_lock);
  return runtime;
}

void bind_object(platform::LoadedObject const& in, Runtime const* to) noexcept {
  pthread_mutex_lock(&bound_lock);
  if (find_bound(in) == nullptr && bound_count < bound.size())
    bound[bound_count++] = {in.begin, coordinator::library_number(in.file), to};
  pthread_mutex_unlock(&bound_lock);
}

// Each runtime has its own versions of these, and the loader binds a call to the runtime that has
// the one it asks for, even where another runtime comes first.
constexpr bool has_versions(Entry entry) noexcept { return entry >= Entry::set_max_active_levels; }

constexpr char const* in_all_runtimes = "omp_get_thread_num";

constinit platform::LoadedObject own_code{};

__attribute__((constructor)) void look_at_the_beginning() {
  Dl_info in;
  own_code = platform::find_object(&first_runtime);
  void* const found = preload::find_next(in_all_runtimes);
  if (found != nullptr && dladdr(found, &in) != 0) first_runtime = in.dli_fbase;
}

constinit preload::Next next_dlclose{"dlclose"};

template <class Function>
void look_up(void* object, char const* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(object, name));
}

// The object's own functions: it comes first in the scope of its handle. It stays loaded, for calls
// into it are remembered.
bool fill(Runtime& r, Dl_info const& in) {
  void* const object = dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (object == nullptr) return false;
  for (std::size_t e = 0; e < entries; ++e) r.real[e] = dlsym(object, names[e]);
  look_up(object, "omp_get_thread_num", r.thread_num);
  look_up(object, "omp_get_max_threads", r.max_threads);
  look_up(object, "omp_get_thread_limit", r.thread_limit);
  look_up(object, "omp_get_dynamic", r.dynamic);
  look_up(object, "omp_get_max_active_levels", r.max_active_levels);
  look_up(object, "omp_get_active_level", r.active_level);
  look_up(object, "omp_set_max_active_levels", r.set_max_active_levels);
  look_up(object, "omp_set_num_threads", r.set_num_threads);
  look_up(object, "omp_get_num_procs", r.num_procs);
  look_up(object, "__kmpc_global_thread_num", r.global_thread_num);
  look_up(object, "__kmpc_end_serialized_parallel", r.end_serialized);
  look_up(object, "kmp_get_blocktime", r.blocktime);
  look_up(object, "kmp_set_blocktime", r.set_blocktime);
  look_up(object, "omp_set_dynamic", r.set_dynamic);
  r.object = in.dli_fbase;
  r.code = platform::find_object(in.dli_saddr != nullptr ? in.dli_saddr : in.dli_fbase);
  return r.thread_num != nullptr && r.max_threads != nullptr && r.thread_limit != nullptr &&
         r.dynamic != nullptr && r.max_active_levels != nullptr && r.num_procs != nullptr;
}

Runtime const* known(void const* object) {
  auto const n = count.load(sync::acquire);  // (runtimes.A)
  for (std::size_t i = 0; i < n; ++i)
    if (runtimes[i].object == object) return &runtimes[i];
  return nullptr;
}

}  // namespace

char const* name_of(Entry e) noexcept { return names[static_cast<std::size_t>(e)]; }

void* real_function(Runtime const* runtime, Entry e) noexcept {
  if (runtime != nullptr) return runtime->real[static_cast<std::size_t>(e)];
  return dlsym(RTLD_NEXT, name_of(e));
}

Runtime const* any_runtime() noexcept {
  return count.load(sync::acquire) == 0 ? nullptr : &runtimes[0];  // (runtimes.A)
}

void unlock_runtimes() noexcept {
  lock = PTHREAD_MUTEX_INITIALIZER;
  bound_lock = PTHREAD_MUTEX_INITIALIZER;
}

Runtime const* runtime_of(void const* code) noexcept {
  auto const n = count.load(sync::acquire);  // (runtimes.A)
  for (std::size_t i = 0; i < n; ++i)
    if (runtimes[i].code.holds(code)) return &runtimes[i];
  return nullptr;
}

namespace {

// Functions of OpenMP that an object calls, as the loader has bound them.
struct Calls {
  std::array<void const*, 64> functions{};
  std::size_t count = 0;
};
void see_call(std::string_view name, void const* function, void* context) noexcept {
  auto& calls = *static_cast<Calls*>(context);
  bool const is_openmps =
      name.starts_with("omp_") || name.starts_with("GOMP_") || name.starts_with("__kmpc_");
  if (is_openmps && calls.count < calls.functions.size()) calls.functions[calls.count++] = function;
}

// The loader may have bound an object's calls when it was opened, and a runtime that has been
// opened for all since then would come first now. Null: it has bound none, or only to us.
void* find_bound_function(void const* code, char const* name) noexcept {
  Calls calls;
  platform::for_each_bound(code, see_call, &calls);
  for (std::size_t i = 0; i < calls.count; ++i) {
    Dl_info in, of_runtime;
    void* const in_runtime = preload::find_from(calls.functions[i], in_all_runtimes);
    if (in_runtime != nullptr && dladdr(in_runtime, &of_runtime) != 0 &&
        dladdr(calls.functions[i], &in) != 0 && in.dli_fbase == of_runtime.dli_fbase)
      return preload::find_from(in_runtime, name);
  }
  return nullptr;
}

// libomp binds the thread that makes it count cpus, which a program's omp_set_...() does not.
bool may_bind_first_caller() noexcept {
  for (char const* const name :
       {"OMP_PROC_BIND", "OMP_PLACES", "KMP_AFFINITY", "GOMP_CPU_AFFINITY"})
    if (char const* const value = getenv(name); value != nullptr && *value != '\0') return true;
  return false;
}

}  // namespace

// (runtimes.A) A thread that sees the count sees the runtimes before it.
Runtime const* find_runtime(Entry entry, void const* code, void const* caller) noexcept {
  auto& next = next_runtimes[static_cast<std::size_t>(entry)];
  if (Runtime const* const r = next.load(sync::acquire);  // (runtimes.A)
      r != nullptr && !has_versions(entry))
    return r;
  char const* const name = name_of(entry);
  // While a thread is in dlopen(), others of its team may come here: what is known is found without
  // the loader.
  auto const of = code == nullptr ? platform::LoadedObject{} : platform::find_object(code);
  bool const is_in_object = of.file != nullptr;
  if (is_in_object) {
    Runtime const* const r = bound_runtime(of);
    if (r != nullptr && r->real[static_cast<std::size_t>(entry)] != nullptr) return r;
  }
  // As the loader searches: the program with all its libraries, then the object's own libraries.
  // Code that belongs to no object was compiled while the program ran; its caller may have one.
  char const* const version =
      has_versions(entry) && is_in_object ? platform::version_asked_for(code, name) : nullptr;
  void* found = version == nullptr ? nullptr : preload::find_version(code, name, version);
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  bool const is_next = found != nullptr;
  Dl_info in;
  bool const is_settled = is_next && dladdr(found, &in) != 0 && in.dli_fbase == first_runtime;
  if (is_in_object && !is_settled)
    if (void* const own = find_bound_function(code, name)) found = own;
  if (found == nullptr) found = preload::find_from(code, name);
  bool const is_the_objects = is_in_object && found != nullptr;
  if (found == nullptr) found = preload::find_from(caller, name);
  if (found == nullptr || dladdr(found, &in) == 0) {
    Runtime const* const any = any_runtime();
    bool const has_it = any != nullptr && any->real[static_cast<std::size_t>(entry)] != nullptr;
    return has_it ? any : nullptr;
  }
  auto const noted = [&](Runtime const* r) {
    bool const is_first = is_next && in.dli_fbase == first_runtime;
    if (is_first) next.store(r, sync::release);  // (runtimes.A)
    if (!is_first && is_the_objects && r != nullptr) bind_object(of, r);
    return r;
  };
  if (Runtime const* const r = known(in.dli_fbase)) return noted(r);
  if (count.load(sync::relaxed) == most_runtimes) return noted(nullptr);
  preload::OnAllPlaces const here;    // libomp counts cpus when it is first called
  platform::Uncancelled const whole;  // and reads files
  // Not under the lock: the thread that has it might wait for the loader, where another one, in
  // dlopen(), waits for the lock.
  Runtime filled;
  bool const is_whole = fill(filled, in);
  if (is_whole && (entry < Entry::set_max_active_levels || !may_bind_first_caller()))
    static_cast<void>(filled.max_threads());
  pthread_mutex_lock(&lock);
  Runtime const* result = known(in.dli_fbase);
  auto const n = count.load(sync::relaxed);
  if (result == nullptr && is_whole && n < most_runtimes) {
    filled.number = n;
    runtimes[n] = filled;
    result = &runtimes[n];
    count.store(n + 1, sync::release);  // (runtimes.A)
  }
  pthread_mutex_unlock(&lock);
  return noted(result);
}

}  // namespace nigh::openmp

NIGH_INTERPOSED void const* nigh_openmp_runtime_of(void const* code) {
  using namespace nigh::openmp;
  if (own_code.holds(code)) return this_thread.body_of;
  Runtime const* runtime = runtime_of(code);
  if (runtime == nullptr)
    if (auto const in = nigh::platform::find_object(code); in.file != nullptr)
      runtime = bound_runtime(in);
  return runtime == nullptr ? nullptr : reinterpret_cast<void const*>(runtime->thread_num);
}

NIGH_INTERPOSED std::uint32_t nigh_openmp_times_closed() { return nigh::openmp::times_forgotten(); }

// Other code may come to lie at the library's address. Many calls only end one of several uses, our
// own among them.
NIGH_INTERPOSED int dlclose(void* library) {
  using nigh::platform::times_unloaded;
  auto const close = reinterpret_cast<int (*)(void*)>(nigh::openmp::next_dlclose.address());
  auto const before = times_unloaded();
  int const refused = close(library);
  if (!before.is_known || times_unloaded().times != before.times) nigh::openmp::forget_regions();
  return refused;
}
