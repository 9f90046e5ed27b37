// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls about checkpoints, and their contents, for tests.

#include <memory>
#include <optional>
#include <string>

#include "cluster/checkpoints.hpp"

namespace nigh::tests {

using cluster::Checkpoints;

// Its text says whose and which it is; steps differ in length.
inline Checkpoints::Content content_of(std::string const& name, std::int64_t step) {
  auto const text =
      name + " at " + std::to_string(step) + std::string(static_cast<std::size_t>(step) % 7, '.');
  auto const raw = std::as_bytes(std::span(text));
  return std::make_shared<cluster::bytes const>(raw.begin(), raw.end());
}

// A call that waits, as a task's.
struct WaitingCall {
  bool has_ended = false;
  std::optional<Checkpoints::Found> found;

  static void end(Checkpoints::Finished finished) {
    auto& call = *static_cast<WaitingCall*>(finished.call);
    call.has_ended = true;
    call.found = std::move(finished.found);
  }
};

// 0: there is none.
inline std::int64_t step_in(std::optional<Checkpoints::Found> const& found) {
  return found ? found->step : 0;
}

}  // namespace nigh::tests
