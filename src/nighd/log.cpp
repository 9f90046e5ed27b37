// SPDX-License-Identifier: Apache-2.0
#include "nighd/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/printable.hpp"
#include "platform/owned_file.hpp"

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

// Somebody else's file may be called so: X.log beside X.sock. An empty one is taken.
void refuse_others_file(std::filesystem::path const& file) {
  std::error_code unknown;
  if (std::filesystem::symlink_status(file, unknown).type() != std::filesystem::file_type::regular)
    return;  // opening it refuses the others
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line) || line.empty()) return;
  constexpr std::string_view time = "2026-11-21T15:20:00.123Z ";
  bool const is_log = line.size() > time.size() && line[10] == 'T' && line[23] == 'Z' &&
                      std::string_view(line).substr(time.size()).starts_with("level=");
  if (!is_log) throw spdlog::spdlog_ex(file.string() + " is no log of nighd's");
}

// A file that only this user may open, renamed to NAME.1.log when it is full. The sinks of spdlog
// follow symbolic links, and let others read.
class OwnFileSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // Throws spdlog_ex where there is no such file.
  explicit OwnFileSink(std::filesystem::path file) : file_(std::move(file)) {
    refuse_others_file(file_);
    refuse_others_file(full_file());
    open();
  }

 private:
  std::filesystem::path full_file() const {
    return file_.parent_path() / (file_.stem().string() + ".1" + file_.extension().string());
  }

  void open() {
    auto opened = platform::AppendedFile::open(file_);
    if (!opened) throw spdlog::spdlog_ex(file_.string() + ": " + opened.message());
    out_.emplace(std::move(opened).value());
  }

  void sink_it_(spdlog::details::log_msg const& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (out_ && out_->size() > 0 && out_->size() + line.size() > largest_file) {
      auto const full = full_file();
      refuse_others_file(full);
      std::error_code failed;
      std::filesystem::rename(file_, full, failed);
      // Nowhere to put the full file. The log ends until there is a place, rather than grow.
      if (failed) throw spdlog::spdlog_ex(file_.string() + ": " + failed.message());
      out_.reset();
    }
    if (!out_) open();
    if (auto const added = out_->add({line.data(), line.size()}); !added)
      throw spdlog::spdlog_ex(file_.string() + ": " + added.message());
  }

  void flush_() override {}

  std::filesystem::path const file_;
  std::optional<platform::AppendedFile> out_;
};

}  // namespace

std::string quoted(std::string_view text) {
  std::string safe = "\"";
  for (char const c : base::printable(text)) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += c;
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
    return Log(std::make_shared<spdlog::logger>("nighd", std::make_shared<OwnFileSink>(file)));
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
