// SPDX-License-Identifier: Apache-2.0
#include "coordinator/server/own_place.hpp"

#include <array>
#include <utility>

#include "platform/affinity.hpp"

namespace nigh::coordinator {

OwnPlace::OwnPlace(std::vector<int> all)
    : all_(std::move(all)), at_start_(all_.empty() ? all_ : platform::affinity_of_this_thread()) {}

void OwnPlace::go_back() {
  bool const is_ours = platform::affinity_of_this_thread() == std::vector{cpu_};
  cpu_ = anywhere;
  if (is_ours) static_cast<void>(platform::pin_this_thread(all_));
}

void OwnPlace::move(Time now) {
  std::array const wanted{place_.cpu()};
  bool const may = at_start_.size() > 1 && platform::affinity_of_this_thread() == at_start_;
  if (may && platform::pin_this_thread(wanted))
    cpu_ = wanted[0];
  else
    place_.refuse(now);
}

}  // namespace nigh::coordinator
