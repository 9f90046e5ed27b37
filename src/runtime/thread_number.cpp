// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_number.hpp"

#include <nigh/per_worker.hpp>
#include <stdexcept>
#include <string>

#include "platform/thread.hpp"

namespace nigh::detail {

constinit thread_local int this_thread_number = -1;

namespace {

using Numbers = tasks::ThreadNumbers<thread_numbers>;

// Never destroyed: threads may end after the program's statics.
Numbers& numbers() {
  static auto& all = [&]() -> Numbers& {
    auto& made = *new Numbers;
    platform::at_fork([] { numbers().before_fork(); }, [] { numbers().in_parent(); },
                      [] { numbers().in_child(this_thread_number); });
    return made;
  }();
  return all;
}

void give_back() {
  if (this_thread_number >= 0) numbers().give_back(this_thread_number);
  this_thread_number = -1;
}

}  // namespace

int take_thread_number() {
  auto const number = numbers().take();
  if (!number)
    throw std::length_error("nigh::per_worker: " + std::to_string(thread_numbers) +
                            " threads have a value already: there is no slot for another one");
  this_thread_number = *number;
  static auto const& at_end = *new platform::AtThreadEnd(give_back);
  at_end.ask();
  return *number;
}

}  // namespace nigh::detail
