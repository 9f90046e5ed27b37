// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long a team thread looks for tasks before it sleeps.

#include <cstdint>

#include "preload/hidden.hpp"

namespace nigh::openmp::tasks {

// Not longer than a millisecond, whatever is said.
NIGH_HIDDEN void begin_patience() noexcept;

class NIGH_HIDDEN Patience {
 public:
  // The team has more threads than cpus.
  explicit Patience(bool is_crowded) noexcept : is_crowded_(is_crowded) {}
  // It has just found something.
  void begin() noexcept { looks_ = 0; }
  // After a look in vain: lets a moment pass. False: it should sleep. `ever_shared`: whether there
  // has been anything to find.
  bool goes_on(bool ever_shared) noexcept;

 private:
  bool yields(std::int64_t at_most_ns) noexcept;

  bool is_crowded_;
  std::uint32_t looks_ = 0;
  std::int64_t began_ns_ = 0;
};

}  // namespace nigh::openmp::tasks
