// SPDX-License-Identifier: Apache-2.0
#include "nighd/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <string>
#include <utility>

namespace nigh::nighd {
namespace {

constexpr std::size_t largest_file = 1'000'000;

LineQueue::Writer writer_to(std::shared_ptr<spdlog::logger> const& logger) {
  return {.line =
              [logger](Line const& line) {
                auto const level = line.is_warning ? spdlog::level::warn : spdlog::level::info;
                logger->log(line.when, {}, level, line.text);
              },
          .lost =
              [logger](std::size_t lines) {
                logger->log(spdlog::level::warn, "event=\"lines lost\" lines={}", lines);
              }};
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string safe = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return safe + '"';
}

Log::Log(std::shared_ptr<spdlog::logger> const& logger)
    : lines_(std::make_shared<LineQueue>(writer_to(logger))) {
  logger->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      "%Y-%m-%dT%H:%M:%S.%eZ level=%l %v", spdlog::pattern_time_type::utc));
  logger->flush_on(spdlog::level::info);
}

Log Log::to_standard_error() {
  return Log(
      std::make_shared<spdlog::logger>("nighd", std::make_shared<spdlog::sinks::stderr_sink_st>()));
}

result<Log> Log::to_file(std::filesystem::path const& file) {
  try {
    return Log(std::make_shared<spdlog::logger>(
        "nighd",
        std::make_shared<spdlog::sinks::rotating_file_sink_st>(file.string(), largest_file, 1)));
  } catch (spdlog::spdlog_ex const& e) {
    return error{e.what()};
  }
}

void Log::operator()(Level level, std::string_view event, std::string_view fields) const {
  auto line = "event=" + quoted(event);
  if (!fields.empty()) line.append(" ").append(fields);
  lines_->add({std::chrono::system_clock::now(), level == Level::warning, std::move(line)});
}

}  // namespace nigh::nighd
