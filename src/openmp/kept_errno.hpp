// SPDX-License-Identifier: Apache-2.0
#pragma once
// While one of these lives, our calls may change errno: at its end errno is again what it was. An
// OpenMP runtime leaves errno alone, and a program may look at it after a region.

#include <errno.h>

namespace nigh::openmp {

class KeptErrno {
 public:
  KeptErrno() noexcept : KeptErrno(&errno) {}
  explicit KeptErrno(int* at) noexcept : at_(at), before_(*at) {}
  ~KeptErrno() { *at_ = before_; }
  KeptErrno(KeptErrno&&) = delete;
  KeptErrno& operator=(KeptErrno&&) = delete;

 private:
  int* const at_;  // of this thread; asking for it is a call
  int const before_;
};

}  // namespace nigh::openmp
