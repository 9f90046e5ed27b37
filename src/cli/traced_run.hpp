// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program's run with its nigh runtimes recorded: where its processes leave their traces, and the
// contents of these.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trace/rank.hpp"
#include "trace/summary.hpp"

namespace nigh::cli {

// A folder for the traces of one command's processes, gone with this object.
class TraceFolder {
 public:
  // Beside `output`, so that a file in it can be renamed to that. Throws UsageError when that file
  // could not be written.
  static TraceFolder beside(std::string const& output);
  static TraceFolder temporary();

  TraceFolder(TraceFolder&& from) noexcept;
  TraceFolder& operator=(TraceFolder&&) = delete;
  ~TraceFolder();

  std::string variable() const;  // NIGH_TRACE=..., for the program's environment
  std::vector<std::filesystem::path> traces() const;  // sorted by process

 private:
  explicit TraceFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

struct ReadTrace {
  int process = 0;
  std::string program;
  std::int64_t zero_ns = 0;         // of its steady clock, when times are 0
  std::optional<trace::Rank> rank;  // of a job, if it is one
  trace::Summary summary;
  bool ended = false;  // one did; otherwise the program stopped before any was written
};

// The sums at the end of a trace file; empty when the trace is not complete.
std::optional<ReadTrace> read_trace(std::filesystem::path const& file);

}  // namespace nigh::cli
