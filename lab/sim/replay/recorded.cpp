// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/recorded.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <stdexcept>

#include "json/bounded.hpp"
#include "json/whole_number.hpp"
#include "trace/chrome_json.hpp"

namespace nigh::sim {

namespace {

using nlohmann::json;

constexpr int unknown = std::numeric_limits<int>::max();  // a low water: no fork was seen

struct Part {
  double seconds = 0;
  int low = unknown;
};

// A task that came from elsewhere, and what was forked in it and not stolen.
struct Span {
  std::int64_t begin = 0, end = 0;  // ns
  int track = 0, inside = -1;       // another span, which it interrupts
  int near = -1;
  double bytes = 0;
  int victim = -1;  // whose track it was stolen from; -1: it was not
  std::int64_t stolen_at = 0;
  std::vector<Part> parts;
  std::size_t first_piece = 0;
};

// The needed part of an event of the trace, in a tenth of its size as JSON.
struct TraceEvent {
  enum Kind : std::uint8_t { task, idle, low, steal, worker, guest, all_done, other } kind = other;
  int track = 0;
  std::int64_t at = 0, end = 0;  // ns
  int near = -1, victim = -1, tasks = 0;
  double bytes = 0;
};

struct Mark {
  enum Kind : std::uint8_t { low, end, steal, idle_end, idle_begin, begin } kind;  // of one time
  std::int64_t at;
  TraceEvent const* event;
  std::size_t order;
};

constexpr double longest_us = 1e12;  // 11 days
constexpr double most_kib = 1e12;
constexpr int most_int = std::numeric_limits<int>::max() - 1;

[[noreturn]] void refuse(char const* key, json const& value, char const* what) {
  throw std::out_of_range(std::string("\"") + key + "\" is " + value.dump() + ", " + what);
}

std::int64_t ns_of(json const& event, char const* key) {
  auto const us = event.at(key).get<double>();
  if (!(us >= 0 && us <= longest_us)) refuse(key, event.at(key), "no time in a run");
  return std::llround(us * 1000);
}

int whole(json const& in, char const* key, int least) {
  auto const number = nigh::json::whole_number(in.at(key), least, most_int);
  if (!number) refuse(key, in.at(key), "none that nigh trace writes");
  return *number;
}

double bytes_of(json const& args) {
  auto const found = args.find("KiB");
  if (found == args.end()) return 0;
  auto const kib = found->get<double>();
  if (!(kib >= 0 && kib <= most_kib)) refuse("KiB", *found, "no size");
  return 1024 * kib;
}

TraceEvent event_of(json const& e) {
  auto const kind = e.at("ph").get<std::string>();
  auto const name = e.at("name").get<std::string>();
  TraceEvent event;
  event.track = whole(e, "tid", 0);
  if (kind == "M") {
    auto const whose = name == "thread_name" ? e.at("args").value("name", "") : std::string();
    if (whose.starts_with("worker")) event.kind = TraceEvent::worker;
    if (whose.starts_with("guest")) event.kind = TraceEvent::guest;
    return event;
  }
  event.at = ns_of(e, "ts");
  if (kind == "X") {
    event.end = event.at + ns_of(e, "dur");
    event.kind = name == "searching" || name == "parked" ? TraceEvent::idle : TraceEvent::task;
    if (event.kind == TraceEvent::idle || !e.contains("args")) return event;
    auto const& args = e.at("args");
    if (args.contains("near")) event.near = whole(args, "near", -1);
    event.bytes = bytes_of(args);
  } else if (kind == "C" && name.starts_with("low water")) {
    event.kind = TraceEvent::low;
    event.tasks = whole(e.at("args"), "tasks", 0);
  } else if (kind == "i" && name == "steal") {
    event.kind = TraceEvent::steal;
    event.victim = whole(e.at("args"), "victim", 0);
  } else if (name == "all done") {
    event.kind = TraceEvent::all_done;
  }
  return event;
}

// One worker's time line, from its marks in their order.
class Line {
 public:
  Line(int track, std::vector<Span>& spans) : track_(track), spans_(spans) {}

  void read(Mark const& m) {
    count(m.at);
    switch (m.kind) {
      case Mark::begin:
        return begin(*m.event);
      case Mark::end:
        if (open_.empty()) return;
        spans_[open_.back()].end = m.at;
        return open_.pop_back();
      case Mark::low:
        if (!open_.empty()) {
          auto& parts = spans_[open_.back()].parts;
          parts.back().low = m.event->tasks;
          parts.push_back({});
        }
        return;
      case Mark::steal:
        stolen_ = m.event;
        return;
      case Mark::idle_begin:
        ++idle_;
        return;
      case Mark::idle_end:
        --idle_;
        return;
    }
  }

 private:
  void count(std::int64_t now) {
    if (!open_.empty() && idle_ == 0)
      spans_[open_.back()].parts.back().seconds += static_cast<double>(now - since_) * 1e-9;
    since_ = now;
  }

  void begin(TraceEvent const& e) {
    Span s;
    s.begin = e.at;
    s.track = track_;
    s.inside = open_.empty() ? -1 : static_cast<int>(open_.back());
    s.near = e.near;
    s.bytes = e.bytes;
    if (stolen_ != nullptr) {
      s.victim = stolen_->victim;
      s.stolen_at = stolen_->at;
      stolen_ = nullptr;
    }
    s.parts.push_back({});
    open_.push_back(spans_.size());
    spans_.push_back(std::move(s));
  }

  int track_;
  std::vector<Span>& spans_;
  std::vector<std::size_t> open_;
  TraceEvent const* stolen_ = nullptr;
  std::int64_t since_ = 0;
  int idle_ = 0;
};

// Tracks of runtime n are numbered on from n x 100,000.
constexpr int tracks_of_a_runtime = 100'000;

std::map<int, std::vector<Mark>> marks_by_track(std::vector<TraceEvent> const& events) {
  std::map<int, std::vector<Mark>> all;
  std::size_t order = 0;
  for (TraceEvent const& e : events) {
    if (e.kind >= TraceEvent::worker) continue;
    auto& marks = all[e.track];
    if (e.kind == TraceEvent::low || e.kind == TraceEvent::steal) {
      marks.push_back({e.kind == TraceEvent::low ? Mark::low : Mark::steal, e.at, &e, order++});
      continue;
    }
    if (e.end == e.at) continue;
    bool const idle = e.kind == TraceEvent::idle;
    marks.push_back({idle ? Mark::idle_begin : Mark::begin, e.at, &e, order++});
    marks.push_back({idle ? Mark::idle_end : Mark::end, e.end, &e, order++});
  }
  // Spans are written when they end, so an outer one comes after what is inside it.
  for (auto& [track, marks] : all)
    std::sort(marks.begin(), marks.end(), [](Mark const& a, Mark const& b) {
      if (a.at != b.at) return a.at < b.at;
      if (a.kind != b.kind) return a.kind < b.kind;
      return a.kind == Mark::begin ? a.order > b.order : a.order < b.order;
    });
  return all;
}

// The tracks of a runtime, and when it had nothing left to do.
struct Landmarks {
  int workers = 0;
  std::set<int> guests;  // tracks
  std::vector<std::int64_t> all_done;
};

Landmarks landmarks(std::vector<TraceEvent> const& events, int runtime) {
  Landmarks all;
  for (TraceEvent const& e : events) {
    if (e.track / tracks_of_a_runtime != runtime) continue;
    if (e.kind == TraceEvent::worker) ++all.workers;
    if (e.kind == TraceEvent::guest) all.guests.insert(e.track % tracks_of_a_runtime);
    if (e.kind == TraceEvent::all_done) all.all_done.push_back(e.at);
  }
  std::sort(all.all_done.begin(), all.all_done.end());
  return all;
}

// Phase after phase: nothing runs in between, and either all tasks are known to be done, or what
// follows is somebody's who came from outside.
void find_phases(std::vector<Span>& spans, Landmarks const& marks, std::vector<int>& phase_of,
                 RecordedRun& run) {
  auto const is_end = [&](std::int64_t latest, Span const& next) {
    if (next.begin <= latest) return false;
    if (marks.guests.count(next.track) > 0) return true;
    auto const done = std::lower_bound(marks.all_done.begin(), marks.all_done.end(), latest);
    return done != marks.all_done.end() && *done <= next.begin;
  };

  std::vector<std::size_t> by_begin(spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i) by_begin[i] = i;
  std::stable_sort(by_begin.begin(), by_begin.end(),
                   [&](std::size_t a, std::size_t b) { return spans[a].begin < spans[b].begin; });
  phase_of.assign(spans.size(), 0);
  int phase = 0;
  auto latest = spans[by_begin.front()].end;
  for (std::size_t i : by_begin) {
    if (is_end(latest, spans[i])) {
      ++phase;
      run.pauses.push_back(static_cast<double>(spans[i].begin - latest) * 1e-9);
    }
    latest = std::max(latest, spans[i].end);
    phase_of[i] = phase;
  }
  run.seconds = static_cast<double>(latest - spans[by_begin.front()].begin) * 1e-9;
  // Pieces come in this order.
  std::vector<Span> sorted;
  std::vector<int> phases, place(spans.size());
  for (std::size_t n = 0; n < by_begin.size(); ++n) place[by_begin[n]] = static_cast<int>(n);
  for (std::size_t i : by_begin) {
    if (spans[i].inside >= 0) spans[i].inside = place[static_cast<std::size_t>(spans[i].inside)];
    sorted.push_back(std::move(spans[i]));
    phases.push_back(phase_of[i]);
  }
  spans = std::move(sorted);
  phase_of = std::move(phases);
}

// Of spans that are sorted by their beginnings.
class SpansOfTracks {
 public:
  explicit SpansOfTracks(std::vector<Span> const& spans) : spans_(spans) {
    for (std::size_t i = 0; i < spans.size(); ++i) of_[spans[i].track].push_back(i);
  }

  // The innermost span of a track at a time; -1: there is none.
  int at(int track, std::int64_t time) const {
    auto const found = of_.find(track);
    if (found == of_.end()) return -1;
    auto const next =
        std::upper_bound(found->second.begin(), found->second.end(), time,
                         [&](std::int64_t t, std::size_t i) { return t < spans_[i].begin; });
    if (next == found->second.begin()) return -1;
    auto span = static_cast<int>(*std::prev(next));  // the last to begin; others are around it
    while (span >= 0 && spans_[static_cast<std::size_t>(span)].end < time)
      span = spans_[static_cast<std::size_t>(span)].inside;
    return span;
  }

 private:
  std::vector<Span> const& spans_;
  std::map<int, std::vector<std::size_t>> of_;
};

void add_pieces(std::vector<Span>& spans, std::vector<int> const& phase_of, RecordedRun& run) {
  SpansOfTracks const spans_of_tracks(spans);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    Span& s = spans[i];
    int parent = -1;
    if (s.victim >= 0) {
      ++run.steals;
      // It has lain there since the task began that it was stolen from, at the earliest.
      int const from = spans_of_tracks.at(s.victim, s.stolen_at);
      if (from >= 0 && static_cast<std::size_t>(from) < i)
        parent = static_cast<int>(spans[static_cast<std::size_t>(from)].first_piece);
    }
    s.first_piece = run.pieces.size();
    std::vector<std::pair<int, int>> lows;  // low, piece; ascending
    for (Part const& part : s.parts) {
      bool const is_first = &part == &s.parts.front();
      if (!is_first && part.low == unknown) {  // its end, without a fork
        run.pieces.back().seconds += part.seconds;
        continue;
      }
      Piece piece;
      piece.seconds = part.seconds;
      piece.phase = phase_of[i];
      piece.near = is_first ? s.near : -1;
      piece.bytes = is_first ? s.bytes : 0;
      while (!lows.empty() && lows.back().first > part.low) lows.pop_back();
      piece.parent = is_first       ? parent
                     : lows.empty() ? static_cast<int>(s.first_piece)
                                    : lows.back().second;
      lows.emplace_back(part.low, static_cast<int>(run.pieces.size()));
      run.pieces.push_back(piece);
    }
  }
}

}  // namespace

double RecordedRun::work_s() const {
  double sum = 0;
  for (Piece const& p : pieces) sum += p.seconds;
  return sum;
}

double RecordedRun::chain_s() const {
  std::vector<double> until(pieces.size());  // its end, in its chain
  std::vector<double> longest(pauses.size() + 1);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    Piece const& p = pieces[i];
    auto const parent = static_cast<std::size_t>(p.parent);
    bool const continues = p.parent >= 0 && pieces[parent].phase == p.phase;
    until[i] = p.seconds + (continues ? until[parent] : 0);
    auto& most = longest.at(static_cast<std::size_t>(p.phase));
    most = std::max(most, until[i]);
  }
  return std::accumulate(longest.begin(), longest.end(), 0.0);
}

result<RecordedRun> parse_recorded(std::string const& text) try {
  using nigh::json::Builder;
  constexpr nigh::json::Limits limits{largest_trace, 8};
  std::vector<TraceEvent> events;
  std::string odd;  // about the first that is; the format, which stands behind, may say why
  Builder builder(limits, text.size());
  builder.give_away("traceEvents", [&](json const& e) {
    if (odd.empty()) try {
        events.push_back(event_of(e));
      } catch (std::exception const& why) {  // of json, or refuse()
        odd = why.what();
      }
  });
  if (!json::sax_parse(text, &builder)) {
    bool const begins_well = text.substr(0, 100).find("\"traceEvents\"") != std::string::npos;
    if (builder.fault() != Builder::Fault::syntax) return error{said_of(builder.fault(), limits)};
    if (begins_well && builder.fault_at() > text.size())
      return error{
          "is not whole: it ends in the middle of what nigh trace writes; record it again"};
    return error{"is no trace of nigh trace"};
  }
  json const trace = builder.take();
  if (!trace.is_object() || !trace.contains("otherData") || !trace["otherData"].is_object())
    return error{"is no trace of nigh trace"};
  auto const& sums = trace["otherData"];
  int const format = sums.contains("format") ? whole(sums, "format", 0) : 1;
  if (format != trace::chrome::format)
    return error{"is a trace of format " + std::to_string(format) + ", this nigh reads " +
                 std::to_string(trace::chrome::format) + ": record it again"};
  if (sums.contains("codes"))  // the places of task constructs
    return error{"is of OpenMP tasks, which do not say what depends on what"};
  constexpr auto any = std::numeric_limits<std::int64_t>::max();
  if (auto const lost =
          nigh::json::whole_number<std::int64_t>(sums.value("events_lost", json(0)), 0, any);
      lost != 0)
    return error{"is not the whole run: " + std::to_string(lost.value_or(any)) +
                 " events were overwritten; record a shorter one"};
  if (!odd.empty() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array())
    return error{"is no whole trace: " + (odd.empty() ? "it has no list of events" : odd)};
  std::map<int, std::vector<Span>> spans_of;  // by runtime
  for (auto const& [track, marks] : marks_by_track(events)) {
    Line line(track % tracks_of_a_runtime, spans_of[track / tracks_of_a_runtime]);
    for (Mark const& m : marks) line.read(m);
  }
  RecordedRun most;  // of the runtime that did the most
  for (auto& [runtime, spans] : spans_of) {
    if (spans.empty()) continue;
    RecordedRun run;
    run.program = sums.value("program", "");
    auto const marks = landmarks(events, runtime);
    run.workers = marks.workers;
    std::vector<int> phase_of;
    find_phases(spans, marks, phase_of, run);
    add_pieces(spans, phase_of, run);
    if (run.work_s() > most.work_s()) most = std::move(run);
  }
  if (most.pieces.empty()) return error{"holds no tasks"};
  return most;
} catch (std::exception const& e) {  // of json, or ns_of()
  return error{std::string("is no whole trace: ") + e.what()};
}

}  // namespace nigh::sim
