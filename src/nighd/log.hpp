// SPDX-License-Identifier: Apache-2.0
#pragma once
// What nighd has to say, a line a time:
//
//   2026-11-21T15:20:00.123Z level=info event="program came" pid=4711 user=1000

#include <filesystem>
#include <memory>
#include <nigh/result.hpp>
#include <string>
#include <string_view>

#include "coordinator/server/server.hpp"

namespace spdlog {
class logger;
}

namespace nigh::nighd {

// As a field's value, of one line.
std::string quoted(std::string_view text);

class Log {
 public:
  using Level = coordinator::ServerOptions::Level;

  static Log to_standard_error();
  // Two files of a megabyte at most: this, and the one before.
  static result<Log> to_file(std::filesystem::path const& file);

  void operator()(Level level, std::string_view event, std::string_view fields = {}) const;

 private:
  explicit Log(std::shared_ptr<spdlog::logger> logger);
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace nigh::nighd
