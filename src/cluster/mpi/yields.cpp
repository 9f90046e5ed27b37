// SPDX-License-Identifier: Apache-2.0
#include "cluster/mpi/yields.hpp"

#include <dlfcn.h>

namespace nigh::cluster::mpi {
namespace {

// Of libopen-pal, in Open MPI 1.2 to 5.0 at least; returns what was set before. Null: another MPI,
// or one that was loaded where symbols are not found. Then all stays as it is.
using SetYield = bool (*)(bool);

SetYield set_yield() noexcept {
  static auto const found =
      reinterpret_cast<SetYield>(::dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle"));
  return found;
}

}  // namespace

NoYields::NoYields() noexcept {
  if (auto const set = set_yield()) were_on_ = set(false);
}

NoYields::~NoYields() {
  if (were_on_) set_yield()(true);
}

}  // namespace nigh::cluster::mpi
