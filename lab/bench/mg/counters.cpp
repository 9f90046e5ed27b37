// SPDX-License-Identifier: Apache-2.0
#include "bench/mg/counters.hpp"

#if defined(NIGH_WITH_PAPI)
#include <papi.h>
#endif

namespace bench {

#if defined(NIGH_WITH_PAPI)

struct MissCounter::Events {
  int set = PAPI_NULL;
  long long before = 0;
};

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
  events_ = std::make_unique<Events>(Events{events, 0});
}

MissCounter::~MissCounter() {
  if (events_ == nullptr) return;
  long long last = 0;
  PAPI_stop(events_->set, &last);
  PAPI_cleanup_eventset(events_->set);
  PAPI_destroy_eventset(&events_->set);
}

void MissCounter::begin() {
  if (events_ != nullptr) PAPI_read(events_->set, &events_->before);
}

void MissCounter::end() {
  long long now = 0;
  if (events_ != nullptr && PAPI_read(events_->set, &now) == PAPI_OK)
    misses_ = now - events_->before;
}

#else

struct MissCounter::Events {};

MissCounter::MissCounter() : why_not_("not available here: this was built without PAPI") {}
MissCounter::~MissCounter() = default;
void MissCounter::begin() {}
void MissCounter::end() {}

#endif

}  // namespace bench
