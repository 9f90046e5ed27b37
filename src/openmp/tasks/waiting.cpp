// SPDX-License-Identifier: Apache-2.0
#include "openmp/tasks/waiting.hpp"

#include <stdlib.h>
#include <strings.h>

#include "base/clock.hpp"
#include "platform/pause.hpp"
#include "platform/thread.hpp"

namespace nigh::openmp::tasks {
namespace {

// Longer than a thread takes to be woken, so that short gaps between tasks cost no system call.
constinit std::int64_t patience_ns = 200'000;

constexpr std::uint32_t looks_with_pauses = 256;

}  // namespace

void begin_patience() noexcept {
  char const* const said = getenv("OMP_WAIT_POLICY");
  if (said != nullptr && strcasecmp(said, "active") == 0) patience_ns = 1'000'000;
  if (said != nullptr && strcasecmp(said, "passive") == 0) patience_ns = 5'000;
}

bool Patience::goes_on() noexcept {
  if (looks_ == 0) began_ns_ = base::now_ns();
  ++looks_;
  if (looks_ < looks_with_pauses && !is_crowded_) {
    sync::pause();
    return looks_ % 32 != 0 || base::now_ns() - began_ns_ < patience_ns;
  }
  platform::yield();
  return base::now_ns() - began_ns_ < (is_crowded_ ? patience_ns / 4 : patience_ns);
}

}  // namespace nigh::openmp::tasks
