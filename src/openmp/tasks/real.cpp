// SPDX-License-Identifier: Apache-2.0
#include "openmp/tasks/real.hpp"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <array>

#include "openmp/task_hooks.hpp"
#include "platform/loaded_objects.hpp"
#include "preload/next.hpp"

namespace nigh::openmp::tasks {
namespace {

// The objects of those that the program began with, by what only one kind has and what all have.
constexpr std::array<char const*, 3> in_runtimes{"omp_get_thread_num", "GOMP_taskwait",
                                                 "__kmpc_omp_taskwait"};
constinit std::array<void const*, 3> first_runtimes{};
constinit RuntimeOf* runtime_of = nullptr;

void const* object_of(void const* inside) noexcept {
  Dl_info in;
  return inside != nullptr && dladdr(inside, &in) != 0 ? in.dli_fbase : nullptr;
}

__attribute__((constructor)) void look_at_the_beginning() {
  for (std::size_t i = 0; i < in_runtimes.size(); ++i)
    first_runtimes[i] = object_of(preload::find_next(in_runtimes[i]));
  if (platform::may_define(NIGH_RUNTIME_OF_NAME, nullptr))
    runtime_of = reinterpret_cast<RuntimeOf*>(dlsym(RTLD_DEFAULT, NIGH_RUNTIME_OF_NAME));
}

bool is_first(void const* object) noexcept {
  return std::find(first_runtimes.begin(), first_runtimes.end(), object) != first_runtimes.end();
}

// A call at the end of a region's function is a jump, and its caller that of the function: nigh.
bool is_nigh(void const* code) noexcept {
  auto const* const object = object_of(code);
  return object != nullptr && (object == object_of(&first_runtimes) ||
                               object == object_of(reinterpret_cast<void const*>(runtime_of)));
}

}  // namespace

// A function that the program did not begin with is looked up each time: it is another's for
// another library, and a runtime that was opened for all since then does not come first for all.
void* Real::find(void const* caller) noexcept {
  void* found = found_.load(sync::relaxed);
  if (found != nullptr) [[likely]]
    return found;
  void* const next = dlsym(RTLD_NEXT, name_);
  if (next != nullptr && is_first(object_of(next))) {
    found_.store(next, sync::relaxed);
    return next;
  }
  if (runtime_of != nullptr) found = preload::find_from(runtime_of(caller), name_);
  if (found == nullptr && (caller == nullptr || is_nigh(caller)))
    found = preload::find_from(runtime_at_hand(), name_);
  if (found == nullptr) found = next;
  if (found == nullptr) found = preload::find_from(caller, name_);
  if (found == nullptr) {
    fprintf(stderr, "nigh: the program calls %s, but has no OpenMP runtime\n", name_);
    abort();
  }
  return found;
}

}  // namespace nigh::openmp::tasks
