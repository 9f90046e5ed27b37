// SPDX-License-Identifier: Apache-2.0
#include "openmp/tasks/waiting.hpp"

#include <stdlib.h>
#include <strings.h>

#include "base/atomic.hpp"
#include "base/clock.hpp"
#include "platform/pause.hpp"
#include "platform/thread.hpp"

namespace nigh::openmp::tasks {
namespace {

// Longer than a thread takes to be woken, so that short gaps between tasks cost no system call.
constinit std::int64_t patience_ns = 200'000;

constexpr std::uint32_t looks_with_pauses = 256;

// A cpu that is yielded to another program's thread comes back after that one's time slice, which
// is milliseconds; a thread that sleeps is woken at once. So after a slow yield the program's
// threads sleep instead, for a while.
constexpr std::int64_t slow_ns = 1'000'000, sleeps_instead_ns = 100'000'000;
constinit sync::atomic<std::int64_t> yields_again_ns{0};

}  // namespace

void begin_patience() noexcept {
  char const* const said = getenv("OMP_WAIT_POLICY");
  if (said != nullptr && strcasecmp(said, "active") == 0) patience_ns = 1'000'000;
  if (said != nullptr && strcasecmp(said, "passive") == 0) patience_ns = 5'000;
}

bool Patience::goes_on(bool ever_shared) noexcept {
  if (looks_ == 0) began_ns_ = base::now_ns();
  ++looks_;
  if (is_crowded_) return yields(ever_shared ? patience_ns / 4 : patience_ns / 16);
  if (looks_ >= looks_with_pauses) return yields(patience_ns);
  sync::pause();
  return looks_ % 32 != 0 || base::now_ns() - began_ns_ < patience_ns;
}

bool Patience::yields(std::int64_t at_most_ns) noexcept {
  auto const before = base::now_ns();
  if (before < yields_again_ns.load(sync::relaxed)) return false;
  platform::yield();
  auto const now = base::now_ns();
  if (now - before > slow_ns) yields_again_ns.store(now + sleeps_instead_ns, sync::relaxed);
  return now - began_ns_ < at_most_ns;
}

}  // namespace nigh::openmp::tasks
