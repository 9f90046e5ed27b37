// SPDX-License-Identifier: Apache-2.0
// The loop of nigh.h.

#include <nigh/nigh.h>

#include <exception>
#include <nigh/parallel_for.hpp>
#include <nigh/schedule.hpp>

#include "runtime/refusal.hpp"

int nigh_parallel_for(size_t begin, size_t end, nigh_loop_body body, void* context,
                      char const* schedule) noexcept {
  auto const refuse = [](char const* why) {
    return nigh::tasks::refuse(NIGH_BAD_ARGUMENT, "nigh_parallel_for", why);
  };
  if (body == nullptr) return refuse("the body is NULL");
  try {
    nigh::loop_options options;
    if (schedule != nullptr) {
      auto const parsed = nigh::parse_schedule(schedule);
      if (!parsed) return refuse(parsed.message().c_str());
      options.how = *parsed;
    }
    // An exception has no business in C: it ends the program, as in a task.
    auto const piece = [body, context](nigh::index_range r) noexcept {
      body(r.begin, r.end, context);
    };
    nigh::parallel_for(begin, end, piece, options);
    return NIGH_OK;
  } catch (std::exception const& e) {  // an environment that makes no sense
    return refuse(e.what());
  }
}
