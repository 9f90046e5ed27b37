// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program's run with its nigh runtimes recorded: where its processes leave their traces, and the
// contents of these.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
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

// OpenMP tasks of the same code.
struct TracedCode {
  std::uint64_t code = 0;  // a coordinator::RegionId
  std::string library;     // its file; empty: the program
  std::uint64_t tasks = 0;
  std::uint64_t ns = 0;  // in these, without other tasks that ran inside
};

// A thread of outermost regions of an OpenMP program whose tasks are nigh's.
struct TracedThread {
  unsigned number = 0;  // on the time line
  std::uint64_t tasks_ns = 0;
  std::uint64_t own_ns = 0;  // in its own part of regions
  std::uint64_t searching_ns = 0;
  std::uint64_t asleep_ns = 0;
};

struct ReadTrace {
  int process = 0;
  std::string program;
  std::int64_t zero_ns = 0;         // of its steady clock, when times are 0
  std::optional<trace::Rank> rank;  // of a job, if it is one
  trace::Summary summary;
  std::filesystem::path file;    // the program, where there are codes
  std::vector<TracedCode> codes;  // most time first
  std::vector<TracedThread> threads;  // by number
  bool ended = false;  // one did; otherwise the program stopped before any was written
};

// From the beginning of the first run to the end of the last, by the clock of rank 0 where they are of ranks.
class WholeTime {
 public:
  void add(ReadTrace const& read) {
    auto const begin = read.zero_ns + (read.rank ? read.rank->to_rank_0_ns : 0);
    begin_ns_ = std::min(begin_ns_, begin);
    auto const elapsed = std::min(read.summary.elapsed_ns, most_ns);  // the file may hold anything
    end_ns_ = std::max(end_ns_, begin + static_cast<std::int64_t>(elapsed));
  }
  std::uint64_t ns() const {
    return end_ns_ > begin_ns_ ? static_cast<std::uint64_t>(end_ns_ - begin_ns_) : 0;
  }

 private:
  static constexpr std::uint64_t most_ns = std::uint64_t{1} << 60;
  std::int64_t begin_ns_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns_ = std::numeric_limits<std::int64_t>::min();
};

// Events of tasks get these names, one for each code. False: the file could not be changed.
bool name_tasks(std::filesystem::path const& trace, std::vector<std::string> const& names);

// The sums at the end of a trace file; empty when the trace is not complete.
std::optional<ReadTrace> read_trace(std::filesystem::path const& file);

}  // namespace nigh::cli
