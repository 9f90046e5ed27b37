// SPDX-License-Identifier: Apache-2.0
#include "openmp/tasks/real.hpp"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "openmp/code_table.hpp"
#include "openmp/task_hooks.hpp"
#include "platform/loaded_objects.hpp"
#include "preload/next.hpp"

// The section of all NIGH_REAL(): the linker knows where it begins and ends.
extern "C" {
NIGH_HIDDEN extern nigh::openmp::tasks::Real first_real[] __asm__("__start_nigh_reals");
NIGH_HIDDEN extern nigh::openmp::tasks::Real last_real[] __asm__("__stop_nigh_reals");
}

namespace nigh::openmp::tasks {
namespace {

std::span<Real> all_reals() noexcept {
  auto const count = static_cast<std::size_t>(last_real - first_real);
  if (count > RealFunctions{}.size()) abort();
  return {first_real, count};
}

// The objects of those that the program began with, by what only one kind has and what all have.
constexpr std::array<char const*, 3> in_runtimes{"omp_get_thread_num", "GOMP_taskwait",
                                                 "__kmpc_omp_taskwait"};
constinit std::array<void const*, 3> first_runtimes{};
constinit RuntimeOf* runtime_of = nullptr;
constinit TimesClosed* times_closed = nullptr;
constinit std::array<platform::LoadedObject, 2> own_code{};  // of both preloaded libraries

void const* object_of(void const* inside) noexcept {
  Dl_info in;
  return inside != nullptr && dladdr(inside, &in) != 0 ? in.dli_fbase : nullptr;
}

__attribute__((constructor)) void look_at_the_beginning() {
  for (std::size_t i = 0; i < in_runtimes.size(); ++i)
    first_runtimes[i] = object_of(preload::find_next(in_runtimes[i]));
  own_code[0] = platform::find_object(&first_runtimes);
  if (!platform::may_define(NIGH_RUNTIME_OF_NAME, nullptr)) return;
  runtime_of = reinterpret_cast<RuntimeOf*>(dlsym(RTLD_DEFAULT, NIGH_RUNTIME_OF_NAME));
  times_closed = reinterpret_cast<TimesClosed*>(dlsym(RTLD_DEFAULT, NIGH_TIMES_CLOSED_NAME));
  own_code[1] = platform::find_object(reinterpret_cast<void const*>(runtime_of));
}

// A call at the end of a region's function is a jump, and its caller that of the function: nigh.
bool is_nigh(void const* code) noexcept {
  return std::any_of(own_code.begin(), own_code.end(),
                     [code](auto const& own) { return own.holds(code); });
}

// Each call gets the function that was found for it before, as long as no library is closed. The
// loader, too, looks for it once.
constinit CodeTable<void*, 512> found_for_calls;

}  // namespace

bool is_first_runtime(void const* object) noexcept {
  return std::find(first_runtimes.begin(), first_runtimes.end(), object) != first_runtimes.end();
}

// A function that the program did not begin with is another's for another library.
void* Real::find(void const* caller) noexcept {
  void* const found = found_.load(sync::relaxed);
  if (found != nullptr) [[likely]]
    return found;
  if (times_closed == nullptr) return look_up(caller);
  if (caller == nullptr || is_nigh(caller)) caller = runtime_at_hand();
  auto const age = times_closed();
  auto const call = number_of_call(caller);
  void* function = nullptr;
  if (call != 0 && found_for_calls.find(call, age, function)) return function;
  function = in(functions_of(runtime_of(caller)));
  if (function == nullptr) function = look_up(caller);
  if (call != 0) found_for_calls.add(call, function, age);
  return function;
}

// A number that no other function or caller has. 0: there is none.
std::uintptr_t Real::number_of_call(void const* caller) const noexcept {
  constexpr std::uintptr_t bits = 57;  // of the address of a program's code, at most
  auto const at = reinterpret_cast<std::uintptr_t>(caller);
  if (caller == nullptr || at >> bits != 0 || !is_listed()) return 0;
  return at | static_cast<std::uintptr_t>(this - all_reals().data()) << bits;
}

void unlock_found_calls() noexcept { found_for_calls.unlock(); }

void const* runtime_of_body() noexcept {
  return runtime_of == nullptr ? nullptr : runtime_of(reinterpret_cast<void const*>(runtime_of));
}

// Null: it is not there.
void* Real::in(RealFunctions const* functions) const noexcept {
  if (functions == nullptr || !is_listed()) return nullptr;
  return (*functions)[static_cast<std::size_t>(this - all_reals().data())];
}

bool Real::is_listed() const noexcept {
  auto const reals = all_reals();
  return std::less_equal<>{}(reals.data(), this) &&
         std::less<>{}(this, reals.data() + reals.size());
}

// Each runtime has its own versions of OpenMP's functions, and the loader binds a call to the
// runtime that has the one it asks for, even where another runtime comes first.
bool Real::has_versions() const noexcept { return strncmp(name_, "omp_", 4) == 0; }

void* Real::look_up_version(void const* caller) const noexcept {
  char const* const version = has_versions() ? platform::version_asked_for(caller, name_) : nullptr;
  if (version == nullptr) return nullptr;
  void* const found = in(functions_of_first(strncmp(version, "OMP_", 4) == 0));
  return found != nullptr ? found : preload::find_version(caller, name_, version);
}

// The function of the runtime that the program began with: that one comes first for all.
void* Real::look_up_first() noexcept {
  void* const next = preload::find_next(name_);
  if (next == nullptr || !is_first_runtime(object_of(next))) return nullptr;
  if (!has_versions()) found_.store(next, sync::relaxed);
  return next;
}

void* Real::look_up(void const* caller) noexcept {
  void* found = look_up_version(caller);
  if (found == nullptr) found = look_up_first();
  if (found != nullptr) return found;
  if (runtime_of != nullptr) found = preload::find_from(runtime_of(caller), name_);
  if (found == nullptr && (caller == nullptr || is_nigh(caller)))
    found = preload::find_from(runtime_at_hand(), name_);
  if (found == nullptr) found = preload::find_next(name_);
  if (found == nullptr) found = preload::find_from(caller, name_);
  if (found == nullptr) {
    fprintf(stderr, "nigh: the program calls %s, but has no OpenMP runtime\n", name_);
    abort();
  }
  return found;
}

void find_all(void* object, bool is_first, RealFunctions& functions) noexcept {
  auto const reals = all_reals();
  for (std::size_t i = 0; i < reals.size(); ++i) {
    if (is_first) reals[i].look_up_first();
    functions[i] = dlsym(object, reals[i].name_);
  }
}

}  // namespace nigh::openmp::tasks
