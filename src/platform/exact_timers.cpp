// SPDX-License-Identifier: Apache-2.0
#include "platform/exact_timers.hpp"

#include <sys/prctl.h>

namespace nigh::platform {
namespace {

constexpr unsigned long exact_ns = 1000;

}  // namespace

ExactTimers::ExactTimers() noexcept : slack_ns_(::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)) {
  if (slack_ns_ > 0) ::prctl(PR_SET_TIMERSLACK, exact_ns, 0, 0, 0);
}

ExactTimers::~ExactTimers() {
  if (slack_ns_ > 0) ::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack_ns_), 0, 0, 0);
}

}  // namespace nigh::platform
