// SPDX-License-Identifier: Apache-2.0
#pragma once
// One process's trace: all its runtimes, in the order in which they end, in one file.
//
// The file is whole JSON at every moment except during a write: a runtime's events replace the
// closing brackets, and the brackets follow again. A second process with the same file name at the
// same time, such as another rank or a child, writes NAME.PID.

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "platform/owned_file.hpp"
#include "trace/summary.hpp"

namespace nigh::trace {

class Recorder;

class TraceFile {
 public:
  // The process's file of that name, opened at the first call. Null when that failed; standard
  // error says so once.
  static TraceFile* of_this_process(std::string const& name);

  void add(Recorder& r);
  void remove(Recorder& r);  // writes it, unless the end of the program has

 private:
  friend struct ThisProcess;

  TraceFile(std::string name, platform::OwnedFile file);

  void write_all();  // at the end of the program: for all that still record
  void write(Recorder& r) noexcept;
  void append(std::string events);
  void write_at_end(std::string text);

  int const process_;
  std::int64_t const zero_ns_;
  std::string const name_;
  platform::OwnedFile const file_;
  std::mutex lock_;  // of all below
  std::vector<Recorder*> recording_;
  std::uint64_t end_of_events_ = 0;
  int runtimes_ = 0;
  Summary summary_;
  bool failed_ = false;  // and said so
};

}  // namespace nigh::trace
