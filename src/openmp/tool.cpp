// SPDX-License-Identifier: Apache-2.0
#include "openmp/tool.hpp"

#include <dlfcn.h>
#include <stdlib.h>
#include <strings.h>

#include "platform/loaded_objects.hpp"

namespace nigh::openmp {

char const* tool_of_the_user() noexcept {
  char const* const wanted = getenv("OMP_TOOL");
  if (wanted != nullptr && strcasecmp(wanted, "disabled") == 0) return nullptr;
  char const* const libraries = getenv("OMP_TOOL_LIBRARIES");
  if (libraries != nullptr && *libraries != '\0') return "OMP_TOOL_LIBRARIES names a tool";
  // libomp has a function of that name itself. The other function is one that nigh does not have.
  if (!platform::may_define("ompt_start_tool", nullptr)) return nullptr;
  Dl_info tool, runtime;
  void* const starts = dlsym(RTLD_DEFAULT, "ompt_start_tool");
  if (starts == nullptr || dladdr(starts, &tool) == 0) return nullptr;
  void* const of_runtime = dlsym(RTLD_DEFAULT, "__kmpc_global_num_threads");
  if (of_runtime != nullptr && dladdr(of_runtime, &runtime) != 0 &&
      runtime.dli_fbase == tool.dli_fbase)
    return nullptr;
  return "it has an OMPT tool";
}

}  // namespace nigh::openmp
