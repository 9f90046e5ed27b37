// SPDX-License-Identifier: Apache-2.0
#pragma once
// The process of a coordinator's program, before anything that /proc says is shown as this
// program's. The system gives the number of an ended process to others, and a connection may have
// been passed on. So readers compare the start of the process and its user with what the
// coordinator saw when the program connected.

#include <compare>
#include <optional>
#include <type_traits>

#include "coordinator/protocol/message.hpp"
#include "platform/answering_child.hpp"
#include "platform/process_identity.hpp"

namespace nigh::cli {

struct ProgramProcess {
  platform::ProcessIdentity identity = {};
  unsigned user = 0;

  static ProgramProcess of(coordinator::Status const& program) {
    return {{static_cast<int>(program.pid), program.started}, program.user};
  }
  auto operator<=>(ProgramProcess const&) const = default;

  // Its user, whom all rights of the process come from. Empty when it has ended, has the rights of
  // another user, or is not known.
  std::optional<platform::User> owner() const {
    auto const found = identity.look([this] { return platform::user_of(identity.pid); });
    return found && *found && (*found)->id == user ? *found : std::nullopt;
  }

  // The result of `look` below /proc/PID, read while the number meant this process. Otherwise
  // empty.
  template <class Look>
  std::optional<std::invoke_result_t<Look const&>> look(Look const& look_at) const {
    if (!owner()) return std::nullopt;
    std::optional<std::invoke_result_t<Look const&>> found = look_at();
    if (!owner()) found.reset();
    return found;
  }
};

}  // namespace nigh::cli
