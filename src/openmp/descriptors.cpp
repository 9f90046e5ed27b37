// SPDX-License-Identifier: Apache-2.0
// A program that closes descriptors, or puts others in their place, need not know of the one that
// leads to the coordinator: it may close it like any other. The shim hears of it first, so that it
// never mistakes a later descriptor with that number for its own.

#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "openmp/connection.hpp"
#include "openmp/pools.hpp"
#include "preload/next.hpp"

namespace {

using nigh::preload::Next;

constinit Next next_close{"close"}, next_dup2{"dup2"}, next_dup3{"dup3"},
    next_close_range{"close_range"}, next_closefrom{"closefrom"};

// Programs call these in signal handlers and after vfork(), where nothing should be looked up.
__attribute__((constructor)) void look_up() {
  for (Next* const next : {&next_close, &next_dup2, &next_dup3, &next_close_range, &next_closefrom})
    static_cast<void>(next->address());
}

class Closing {
 public:
  Closing(unsigned first, unsigned last) : is_ours_(nigh::openmp::begin_closing(first, last)) {}
  ~Closing() {
    int const said = errno;
    if (is_ours_) nigh::openmp::end_closing();
    errno = said;
  }
  Closing(Closing&&) = delete;
  Closing& operator=(Closing&&) = delete;

 private:
  bool is_ours_;
};

template <class... Arguments>
int pass_on(Next& next, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(next.address())(arguments...);
}

constexpr unsigned only_close_on_exec = 4;  // CLOSE_RANGE_CLOEXEC, in newer headers

// A C library before 2.34 has neither of these two. A program finds that out by looking for the
// name, and now it finds ours.
int close_range_by_kernel(unsigned first, unsigned last, int flags) {
  constexpr long call = 436;  // on every processor; older headers have no name for it
  return static_cast<int>(syscall(call, first, last, flags));
}

}  // namespace

NIGH_INTERPOSED int close(int number) {
  nigh::openmp::adapt_pools_in_passing();
  auto const n = static_cast<unsigned>(number);
  Closing const closing(n, n);
  return pass_on(next_close, number);
}

NIGH_INTERPOSED int dup2(int from, int to) noexcept {
  auto const n = static_cast<unsigned>(to);
  if (from == to) return pass_on(next_dup2, from, to);
  Closing const closing(n, n);
  return pass_on(next_dup2, from, to);
}

NIGH_INTERPOSED int dup3(int from, int to, int flags) noexcept {
  auto const n = static_cast<unsigned>(to);
  if (from == to) return pass_on(next_dup3, from, to, flags);
  Closing const closing(n, n);
  return pass_on(next_dup3, from, to, flags);
}

NIGH_INTERPOSED int close_range(unsigned first, unsigned last, int flags) noexcept {
  bool const closes = (static_cast<unsigned>(flags) & only_close_on_exec) == 0 && first <= last;
  Closing const closing(closes ? first : 1, closes ? last : 0);
  if (next_close_range.address() == nullptr) return close_range_by_kernel(first, last, flags);
  return pass_on(next_close_range, first, last, flags);
}

NIGH_INTERPOSED void closefrom(int first) noexcept {
  int const least = first < 0 ? 0 : first;
  Closing const closing(static_cast<unsigned>(least), UINT_MAX);
  if (next_closefrom.address() != nullptr) {
    reinterpret_cast<void (*)(int)>(next_closefrom.address())(first);
  } else if (close_range_by_kernel(static_cast<unsigned>(least), UINT_MAX, 0) != 0) {
    for (long n = least, end = sysconf(_SC_OPEN_MAX); n < end; ++n)
      pass_on(next_close, static_cast<int>(n));
  }
}
