// SPDX-License-Identifier: Apache-2.0
#include "bench/results.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "bench/options.hpp"
#include "bench/statistics.hpp"
#include "platform/replaced_file.hpp"

namespace bench {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(std::map<std::string, Value> const& values) {
  Json object = Json::object();
  for (auto const& [key, value] : values)
    std::visit([&](auto const& v) { object[key] = v; }, value);
  return object;
}

UsageError cannot_write(std::string const& argument, std::string const& file, int why) {
  return UsageError(argument + ": cannot write " + file + ": " + std::strerror(why));
}

}  // namespace

std::string json_line(Result const& r, RunRecord const& run) {
  Json line;
  line["bench"] = r.bench;
  line["variant"] = r.variant;
  line["params"] = to_json(r.params);
  if (!r.absent.empty()) {
    line["absent"] = r.absent;
  } else {
    Statistics const s = statistics_of(r.samples);
    line["metric"] = r.metric;
    line["unit"] = r.unit;
    line["median"] = s.median;
    line["min"] = s.min;
    line["max"] = s.max;
    line["mean"] = s.mean;
    line["deviation"] = s.deviation;
    line["samples"] = r.samples;
    if (r.verified) line["verified"] = *r.verified;
    line["counters"] = to_json(r.counters);
  }
  line["run"] = {{"commit", run.commit},   {"compiler", run.compiler}, {"flags", run.flags},
                 {"machine", run.machine}, {"topology", run.topology}, {"date", run.date}};
  return line.dump();
}

void check_writable(std::string const& argument, std::string const& file) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) throw cannot_write(argument, file, EISDIR);
  if (fs::exists(file, ignored)) {
    if (access(file.c_str(), W_OK) != 0) throw cannot_write(argument, file, errno);
    return;
  }
  std::string folder = fs::path(file).parent_path().string();
  if (folder.empty()) folder = ".";
  if (access(folder.c_str(), W_OK | X_OK) != 0) throw cannot_write(argument, file, errno);
}

ResultFile::ResultFile(std::string const& argument, std::string name) : name_(std::move(name)) {
  if (name_.empty()) return;
  if (name_ == "-") {
    file_ = stdout;
    return;
  }
  file_ = nigh::platform::open_stream(name_).release();
  if (file_ != nullptr) return;
  check_writable(argument, name_);
  namespace fs = std::filesystem;
  std::error_code unknown;
  if (fs::exists(name_, unknown) && !fs::is_regular_file(name_, unknown)) {
    file_ = std::fopen(name_.c_str(), "we");  // a device or a pipe is not replaced
    if (file_ == nullptr) throw cannot_write(argument, name_, errno);
    return;
  }
  if (fs::is_symlink(name_, unknown)) {
    auto const target = fs::canonical(name_, unknown);
    if (!unknown) name_ = target.string();
  }
  auto part = nigh::platform::Replacement::beside(name_);
  if (!part) throw UsageError(argument + ": cannot write " + name_ + ": " + part.message());
  part_ = std::make_unique<nigh::platform::Replacement>(std::move(part).value());
  file_ = part_->file();
}

ResultFile::~ResultFile() {
  if (file_ != nullptr && file_ != stdout && !part_) std::fclose(file_);
}

void ResultFile::write(std::string const& line) {
  if (file_ == nullptr) return;
  std::fprintf(file_, "%s\n", line.c_str());
  if (!part_) std::fflush(file_);  // whole lines, where something else is written, too
}

void ResultFile::finish() {
  if (file_ == nullptr) return;
  bool const written = std::fflush(file_) == 0 && std::ferror(file_) == 0;
  std::string why = written ? "" : std::strerror(errno);
  if (written && part_) {
    if (auto const done = part_->put_in_place(); !done) why = done.message();
  }
  if (!why.empty())
    throw std::runtime_error((file_ == stdout ? "standard output" : name_) + ": " + why);
  if (file_ != stdout && !part_) std::fclose(file_);
  file_ = nullptr;
  part_.reset();
}

}  // namespace bench
