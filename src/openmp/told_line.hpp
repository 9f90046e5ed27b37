// SPDX-License-Identifier: Apache-2.0
#pragma once
// A line for people on standard error, put there in one piece: several programs may end at a time.

#include <stdarg.h>
#include <stdio.h>

#include <cstddef>

namespace nigh::openmp {

class ToldLine {
 public:
  ToldLine() = default;
  ToldLine(ToldLine&&) = delete;
  ToldLine& operator=(ToldLine&&) = delete;
  ~ToldLine() { fprintf(stderr, "%s\n", text_); }

  // What has no room any more is left out.
  __attribute__((format(printf, 2, 3))) void add(char const* format, ...) {
    va_list values;
    va_start(values, format);
    int const added = vsnprintf(text_ + length_, sizeof text_ - length_, format, values);
    va_end(values);
    if (added < 0) return;
    length_ += static_cast<std::size_t>(added);
    if (length_ >= sizeof text_) length_ = sizeof text_ - 1;
  }

 private:
  char text_[1024] = {};
  std::size_t length_ = 0;
};

}  // namespace nigh::openmp
