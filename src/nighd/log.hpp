// SPDX-License-Identifier: Apache-2.0
#pragma once
// nighd's messages, one line each:
//
//   2026-11-21T15:20:00.123Z level=info event="program came" pid=4711 user=1000
//
// The caller does not wait until the line is written (line_queue.hpp); the time is when it was
// said.

#include <chrono>
#include <filesystem>
#include <memory>
#include <nigh/result.hpp>
#include <string>
#include <string_view>

#include "coordinator/server/server.hpp"
#include "nighd/line_queue.hpp"

namespace spdlog {
class logger;
}

namespace nigh::nighd {

// The text as a field's value, in one line.
std::string quoted(std::string_view text);

class Log {
 public:
  using Level = coordinator::ServerOptions::Level;

  static Log to_standard_error();
  // Two files of a megabyte at most: this one, and the one before.
  static result<Log> to_file(std::filesystem::path const& file);

  // From any thread, and not before a fork().
  void operator()(Level level, std::string_view event, std::string_view fields = {}) const;
  // As LineQueue's.
  bool finish(std::chrono::milliseconds patience) const { return lines_->finish(patience); }

 private:
  explicit Log(std::shared_ptr<spdlog::logger> const& logger);
  std::shared_ptr<LineQueue> lines_;
};

}  // namespace nigh::nighd
