// SPDX-License-Identifier: Apache-2.0
#include "bench/mg/counters.hpp"

#if defined(NIGH_WITH_PAPI)
#include <papi.h>
#endif

namespace bench {

#if defined(NIGH_WITH_PAPI)

MissCounter::MissCounter() {
  auto const fails = [&](int code) {
    if (code == PAPI_OK) return false;
    why_not_ = std::string("not available here: ") + PAPI_strerror(code);
    return true;
  };
  static int const version = PAPI_library_init(PAPI_VER_CURRENT);
  if (version != PAPI_VER_CURRENT) {
    why_not_ = "not available here: PAPI does not start";
    return;
  }
  int events = PAPI_NULL;
  if (fails(PAPI_create_eventset(&events))) return;
  PAPI_option_t inherited{};
  inherited.inherit.eventset = events;
  inherited.inherit.inherit = PAPI_INHERIT_ALL;
  if (fails(PAPI_assign_eventset_component(events, 0)) ||
      fails(PAPI_set_opt(PAPI_INHERIT, &inherited)) || fails(PAPI_add_event(events, PAPI_L3_TCM)) ||
      fails(PAPI_start(events))) {
    PAPI_cleanup_eventset(events);
    PAPI_destroy_eventset(&events);
    return;
  }
  events_ = events;
}

MissCounter::~MissCounter() {
  if (events_ < 0) return;
  long long last = 0;
  PAPI_stop(events_, &last);
  PAPI_cleanup_eventset(events_);
  PAPI_destroy_eventset(&events_);
}

void MissCounter::begin() {
  if (events_ >= 0) PAPI_read(events_, &before_);
}

void MissCounter::end() {
  long long now = 0;
  if (events_ >= 0 && PAPI_read(events_, &now) == PAPI_OK) misses_ = now - before_;
}

#else

MissCounter::MissCounter() : why_not_("not available here: this was built without PAPI") {}
MissCounter::~MissCounter() = default;
void MissCounter::begin() {}
void MissCounter::end() {}

#endif

}  // namespace bench
