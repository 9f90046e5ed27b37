// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_number.hpp"

#include <nigh/per_worker.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "platform/thread.hpp"

namespace nigh::detail {

constinit thread_local int this_thread_number = -1;

namespace {

using Numbers = tasks::ThreadNumbers<thread_numbers>;

// Not on the heap: a detector of races in the program sees how heap blocks are made, and not that
// this library lets one thread do it before others. Threads may end after the program's statics.
constinit Numbers all_numbers;
static_assert(std::is_trivially_destructible_v<Numbers>);

Numbers& numbers() {
  static bool const survives_fork = [] {
    platform::at_fork([] { all_numbers.before_fork(); }, [] { all_numbers.in_parent(); },
                      [] { all_numbers.in_child(this_thread_number); });
    return true;
  }();
  static_cast<void>(survives_fork);
  return all_numbers;
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
