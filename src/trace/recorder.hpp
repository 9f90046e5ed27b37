// SPDX-License-Identifier: Apache-2.0
#pragma once
// Records what the workers of one runtime do, into a file that shows it on a time line.
//
//   auto recorder = Recorder::start(options.trace_file, {{"worker 0 (cpu 0)", &counters}, ...});
//   worker.track = recorder ? &recorder->track(0) : nullptr;     // null: not recorded
//   ...
//   if (worker.track != nullptr) worker.track->stole(victim, level, tasks);   // slow paths only
//   recorder.reset();                                            // workers have stopped: written
//
// A runtime that is never destroyed is written when the program exits, with its workers at work:
// events recorded during the write are lost, nothing else.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/summary.hpp"
#include "trace/track.hpp"

namespace nigh::trace {

class TraceFile;

class Recorder {
 public:
  static constexpr std::size_t events_per_track = std::size_t{1} << 16;  // 1 MiB, where used

  struct TrackInfo {
    std::string name;                          // as it is shown
    WorkerCounters const* counters = nullptr;  // for the number of tasks; outlives the recorder
    bool is_worker = true;                     // others are shown only if they have done something
  };

  // Null for an empty name, and where the file cannot be written; one line on standard error says
  // so.
  static std::unique_ptr<Recorder> start(std::string const& file, std::vector<TrackInfo> tracks,
                                         std::size_t events = events_per_track);

  // All workers have stopped recording. Does nothing in a child after fork().
  ~Recorder();
  Recorder(Recorder&&) = delete;
  Recorder& operator=(Recorder&&) = delete;

  Track& track(int index) noexcept { return *tracks_[static_cast<std::size_t>(index)]; }
  int tracks() const noexcept { return static_cast<int>(tracks_.size()); }

  Summary summary() const;

  // The counters are about to begin anew, but not the recording.
  void counters_reset() noexcept;

 private:
  friend class TraceFile;

  Recorder(TraceFile& file, std::vector<TrackInfo> infos, std::size_t events);

  TraceFile& file_;
  std::int64_t const start_ns_ = steady_ns();
  std::vector<TrackInfo> const infos_;
  std::vector<std::unique_ptr<Track>> tracks_;
  Counter created_, serialized_;  // before the last reset
};

}  // namespace nigh::trace
