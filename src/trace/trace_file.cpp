// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "base/printable.hpp"
#include "base/published.hpp"
#include "platform/ending_signals.hpp"
#include "platform/program.hpp"
#include "trace/chrome_json.hpp"
#include "trace/rank.hpp"
#include "trace/recorder.hpp"

namespace nigh::trace {
namespace {

constexpr std::string_view head = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";

void say(std::string const& name, char const* why) noexcept {
  std::fprintf(stderr, "nigh: cannot write the trace %s: %s\n", base::printable(name).c_str(),
               base::printable(why).c_str());
}

struct Opened {
  std::string name;
  platform::OwnedFile file;
};

// In the file's own name: a folder may be called 50%run.
void put_in_place_of(std::string_view placeholder, std::string const& what, std::string& name) {
  for (auto at = name.find(placeholder, name.rfind('/') + 1); at != name.npos; at = name.find(placeholder, at))
    name.replace(at, placeholder.size(), what);
}

std::optional<Opened> open_beside_others(std::string name) {
  auto const process = std::to_string(platform::process_id());
  auto const rank = this_rank();
  put_in_place_of("%p", process, name);
  put_in_place_of("%r", std::to_string(rank ? rank->rank : 0), name);
  for (auto const& candidate : {name, name + "." + process}) {
    auto opened = platform::OwnedFile::open(candidate);
    if (!opened) {
      say(candidate, opened.message().c_str());
      return std::nullopt;
    }
    if (*opened) return Opened{candidate, std::move(**opened)};
  }
  say(name, "another process is writing it");
  return std::nullopt;
}

}  // namespace

// The trace files of a process. After fork() the child makes its own and leaves its parent's alone:
// a thread that the child does not have may hold the lock.
struct ThisProcess {
  ThisProcess* const parents;  // kept reachable, for leak checkers
  int const id = platform::process_id();
  std::mutex lock;
  std::vector<std::pair<std::string, std::unique_ptr<TraceFile>>> files;  // null: did not open

  explicit ThisProcess(ThisProcess* parents_) : parents(parents_) {}

  static inline base::Published<ThisProcess> current;

  static ThisProcess& get() {
    auto* known = current.get();
    while (known == nullptr || known->id != platform::process_id()) {
      auto fresh = std::make_unique<ThisProcess>(known);
      if (current.replace(known, fresh.get())) known = fresh.release();
    }
    return *known;  // never freed: runtimes may outlive everything
  }

  static void at_exit() {
    auto* const here = current.get();
    if (here == nullptr || here->id != platform::process_id()) return;
    std::lock_guard const guard(here->lock);
    for (auto& [name, file] : here->files)
      if (file != nullptr) file->write_all();
  }

  TraceFile* file(std::string const& name) {
    std::lock_guard const guard(lock);
    for (auto& [known, file] : files)
      if (known == name) return file.get();
    static int const registered = std::atexit(at_exit);
    static_cast<void>(registered);
    platform::before_ending_signals(at_exit);
    files.emplace_back(name, nullptr);
    if (auto opened = open_beside_others(name))
      files.back().second.reset(new TraceFile(std::move(opened->name), std::move(opened->file)));
    return files.back().second.get();
  }
};

TraceFile* TraceFile::of_this_process(std::string const& name) {
  return ThisProcess::get().file(name);
}

TraceFile::TraceFile(std::string name, platform::OwnedFile file)
    : process_(platform::process_id()),
      zero_ns_(steady_ns()),
      name_(std::move(name)),
      file_(std::move(file)) {
  write_at_end(std::string(head));
  end_of_events_ = head.size();
}

void TraceFile::add(Recorder& r) {
  std::lock_guard const guard(lock_);
  recording_.push_back(&r);
}

void TraceFile::remove(Recorder& r) {
  if (process_ != platform::process_id()) return;
  std::lock_guard const guard(lock_);
  if (std::erase(recording_, &r) == 0) return;
  for (auto& track : r.tracks_) track->flush();
  write(r);
}

void TraceFile::write_all() {
  std::lock_guard const guard(lock_);
  for (Recorder* r : std::exchange(recording_, {})) write(*r);
}

void TraceFile::write(Recorder& r) noexcept try {
  int const runtime = ++runtimes_;
  summary_ = summary_ + r.summary();
  auto const now = steady_ns();
  summary_.elapsed_ns = static_cast<std::uint64_t>(now - zero_ns_);

  std::string events;
  chrome::append_runtime(events, runtime,
                         platform::this_program().filename().string() + ", runtime " +
                             std::to_string(runtime) + " of process " + std::to_string(process_));
  for (std::size_t i = 0; i < r.tracks_.size(); ++i) {
    auto const& name = r.infos_[i].name;
    auto const contents = r.tracks_[i]->events();
    if (contents.events.empty() && !r.infos_[i].is_worker) continue;
    int const track = static_cast<int>(i);
    chrome::append_track_name(events, runtime, track, name);
    chrome::append_track(events, runtime, track, name, contents.events, zero_ns_, now);
    summary_.events_lost += contents.lost;
    append(std::exchange(events, {}));
  }
  if (!events.empty()) append(std::move(events));
} catch (std::bad_alloc const&) {
  failed_ = true;
  say(name_, "no memory is left");
}

void TraceFile::append(std::string events) {
  events.resize(events.size() - 2);  // its last ",\n"
  if (end_of_events_ > head.size()) events.insert(0, ",\n");
  auto const length = events.size();
  write_at_end(std::move(events));
  end_of_events_ += length;
}

// Writes the text, and after it all that closes the file.
void TraceFile::write_at_end(std::string text) {
  if (failed_) return;
  auto const rank = this_rank();
  text += "\n],\"otherData\":{\"format\":" + std::to_string(chrome::format) +
          ",\"program\":" + chrome::json_string(platform::this_program().filename().string()) +
          ",\"process\":" + std::to_string(process_) + ",\"zero_ns\":" + std::to_string(zero_ns_) +
          "," + (rank ? json_members(*rank) : "") + json_members(summary_) + "}}\n";
  auto const written = file_.write_end(end_of_events_, text);
  if (written) return;
  failed_ = true;
  say(name_, written.message().c_str());
}

}  // namespace nigh::trace
