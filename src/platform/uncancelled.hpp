// SPDX-License-Identifier: Apache-2.0
#pragma once
// While one of these lives, pthread_cancel() does not end its thread. For code of ours in a program
// that is not ours: a thread that is cancelled in the middle keeps our locks for ever, and a
// parallel region is no cancellation point.
//
// It takes some nanoseconds, and no system call.

#include <pthread.h>

namespace nigh::platform {

class Uncancelled {
 public:
  Uncancelled() noexcept : before_(begin()) {}
  ~Uncancelled() { end(before_); }
  Uncancelled(Uncancelled&&) = delete;
  Uncancelled& operator=(Uncancelled&&) = delete;

  // Where two functions are its beginning and its end: end() gets what begin() returned.
  static int begin() noexcept {
    int before = PTHREAD_CANCEL_ENABLE;
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
  }
  static void end(int before) noexcept { ::pthread_setcancelstate(before, nullptr); }

 private:
  int before_;
};

}  // namespace nigh::platform
