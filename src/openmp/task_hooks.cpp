// SPDX-License-Identifier: Apache-2.0
#include "openmp/task_hooks.hpp"

#include <dlfcn.h>

namespace nigh::openmp {

constinit TaskHooks const* task_hooks = nullptr;

namespace {

__attribute__((constructor)) void look_for_hooks() {
  auto const* const found =
      static_cast<TaskHooks const*>(dlsym(RTLD_DEFAULT, NIGH_TASK_HOOKS_NAME));
  if (found != nullptr && found->version == TaskHooks::current) task_hooks = found;
}

}  // namespace

}  // namespace nigh::openmp
