// SPDX-License-Identifier: Apache-2.0
#pragma once
// At a program's end nigh writes to the standard error that the program began with, or not at all:
// by then descriptor 2 may be a file of the program's own.

#include <sys/stat.h>

namespace nigh::platform {

class StandardError {
 public:
  // Before the program runs.
  void note() noexcept { began_ = place(); }
  bool is_kept() const noexcept {
    Place const now = place();
    return now.is_open && began_.is_open && now.device == began_.device &&
           now.inode == began_.inode;
  }

 private:
  struct Place {
    bool is_open = false;
    dev_t device = 0;
    ino_t inode = 0;
  };
  static Place place() noexcept {
    struct stat what;
    constexpr int number = 2;
    if (::fstat(number, &what) != 0) return {};
    return {true, what.st_dev, what.st_ino};
  }
  Place began_{};
};

}  // namespace nigh::platform
