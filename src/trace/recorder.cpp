// SPDX-License-Identifier: Apache-2.0
#include "trace/recorder.hpp"

#include <limits>
#include <utility>

#include "base/assert.hpp"
#include "trace/trace_file.hpp"

namespace nigh::trace {

std::unique_ptr<Recorder> Recorder::start(std::string const& file, std::vector<TrackInfo> tracks,
                                          std::size_t events) {
  if (file.empty()) return nullptr;
  TraceFile* const opened = TraceFile::of_this_process(file);
  if (opened == nullptr) return nullptr;
  std::unique_ptr<Recorder> made(new Recorder(*opened, std::move(tracks), events));
  opened->add(*made);
  return made;
}

Recorder::Recorder(TraceFile& file, std::vector<TrackInfo> infos, std::size_t events)
    : file_(file), infos_(std::move(infos)) {
  NIGH_ASSERT(infos_.size() <= std::numeric_limits<std::uint16_t>::max(), "a track fits its word");
  for (std::size_t i = 0; i < infos_.size(); ++i)
    tracks_.push_back(std::make_unique<Track>(events));
}

Recorder::~Recorder() { file_.remove(*this); }

Summary Recorder::summary() const {
  Summary s;
  s.runtimes = 1;
  s.elapsed_ns = static_cast<std::uint64_t>(steady_ns() - start_ns_);
  s.created = created_.get();
  s.serialized = serialized_.get();
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    TrackTotals const& t = tracks_[i]->totals();
    if (infos_[i].is_worker) ++s.workers;
    if (auto const* c = infos_[i].counters) {
      s.created += c->forked.get() + c->serialized.get() + c->run.get();
      s.serialized += c->serialized.get();
    }
    for (std::size_t l = 0; l < level_count; ++l) s.steals[l] += t.steals[l].get();
    s.stolen += t.stolen.get();
    s.failed += t.failed.get();
    s.parks += t.parks.get();
    s.busy_ns += tracks_[i]->busy_ns();
  }
  return s;
}

void Recorder::counters_reset() noexcept {
  Summary const so_far = summary();
  created_.add(so_far.created - created_.get());
  serialized_.add(so_far.serialized - serialized_.get());
}

}  // namespace nigh::trace
