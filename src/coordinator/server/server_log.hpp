// SPDX-License-Identifier: Apache-2.0
#pragma once
// The server's log, for people. It reports each kind of misbehaviour once, for the first program
// that shows it; programs that come and leave a thousand times a second make one line.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "coordinator/server/line_rate.hpp"
#include "platform/process_identity.hpp"

namespace nigh::coordinator {

// The process at the other end of a connection, as the kernel says.
struct Peer {
  unsigned user = 0;
  int pid = 0;
  platform::ProcessIdentity process{};
};

class ServerLog {
 public:
  enum class Level : std::uint8_t { info, warning };
  // An event and its process, as fields of a line.
  using Writer = std::function<void(Level, std::string_view what, std::string_view whom)>;

  explicit ServerLog(Writer writer) : write_(std::move(writer)) {}

  void warn_once(std::string_view what, Peer const& whom = {}, std::string_view more = {});
  void say_move(std::string_view what, Peer const& whom, Time now);
  // When counted moves are due, and the line that reports them.
  std::optional<Time> due() const noexcept { return moves_.due(); }
  void say_unsaid_moves(Time now);

 private:
  static constexpr std::size_t most_kinds = 64;
  static constexpr int warnings_of_a_kind = 1;

  void say(Level level, std::string_view what, Peer const& whom, std::string_view more = {});

  Writer write_;
  std::map<std::string, int, std::less<>> warned_;
  LineRate moves_{50};
};

}  // namespace nigh::coordinator
