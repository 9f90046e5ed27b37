// SPDX-License-Identifier: Apache-2.0
#include "trace/chrome_json.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <vector>

#include "base/utf8.hpp"

namespace nigh::trace::chrome {
namespace {

// Threads of all processes share one number space in Perfetto, where 0 means no thread.
std::string ids(int runtime, int track) {
  return ",\"pid\":" + std::to_string(runtime) +
         ",\"tid\":" + std::to_string(std::int64_t{runtime} * 100'000 + track);
}

// One track's events, written as they end.
class TrackWriter {
 public:
  TrackWriter(std::string& out, int runtime, int track, std::string_view name, std::int64_t zero_ns)
      : out_(out),
        where_(ids(runtime, track)),
        counter_(json_string("queue length, " + std::string(name))),
        low_counter_(json_string("low water, " + std::string(name))),
        zero_ns_(zero_ns) {}

  void write(Event const& e) {
    if (waiting_) end_waiting(e.time_ns);
    switch (e.kind) {
      case EventKind::task_begin:
        tasks_.push_back(e);
        break;
      case EventKind::task_end:
        if (tasks_.empty()) break;
        span("task", tasks_.back(), e.time_ns, where_it_belongs(tasks_.back()));
        tasks_.pop_back();
        break;
      case EventKind::steal:
        if (e.where == level::cluster) {
          instant("steal from rank", e,
                  "\"rank\":" + std::to_string(e.victim) + ",\"tasks\":" + std::to_string(e.count));
          break;
        }
        instant("steal", e,
                "\"victim\":" + std::to_string(e.victim) + ",\"level\":" +
                    json_string(to_string(e.where)) + ",\"tasks\":" + std::to_string(e.count));
        break;
      case EventKind::serialized:
        instant("serialized", e, "\"tasks\":" + std::to_string(e.count));
        break;
      case EventKind::all_done:
        instant("all done", e, "");
        break;
      case EventKind::failed_search:
      case EventKind::park:
        waiting_ = e;
        break;
      case EventKind::queue_length:
        out_ += "{\"ph\":\"C\",\"name\":" + counter_ + at(e.time_ns) +
                ",\"args\":{\"tasks\":" + std::to_string(e.count) + "}},\n";
        break;
      case EventKind::low_water:
        out_ += "{\"ph\":\"C\",\"name\":" + low_counter_ + at(e.time_ns) +
                ",\"args\":{\"tasks\":" + std::to_string(e.count) + "}},\n";
        break;
      case EventKind::resume:
      case EventKind::unpark:
        break;
    }
  }

  void end(std::int64_t time_ns) {
    if (waiting_) end_waiting(time_ns);
    for (; !tasks_.empty(); tasks_.pop_back())
      span("task", tasks_.back(), time_ns, where_it_belongs(tasks_.back()));
  }

 private:
  std::string microseconds(std::int64_t ns) const {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%lld.%03d", static_cast<long long>(ns / 1000),
                  static_cast<int>(ns % 1000));
    return text.data();
  }
  std::string at(std::int64_t time_ns) const {
    return where_ + ",\"ts\":" + microseconds(std::max<std::int64_t>(time_ns - zero_ns_, 0));
  }
  static std::string where_it_belongs(Event const& task) {
    if (task.victim == 0) return "";
    return "\"near\":" + std::to_string(task.victim - 1) + ",\"KiB\":" + std::to_string(task.count);
  }
  void span(char const* name, Event const& begin, std::int64_t end_ns, std::string const& args) {
    auto const length = std::max<std::int64_t>(end_ns - begin.time_ns, 0);
    out_ += "{\"ph\":\"X\",\"name\":" + json_string(name) + at(begin.time_ns) +
            ",\"dur\":" + microseconds(length) + ",\"args\":{" + args + "}},\n";
  }
  void instant(char const* name, Event const& e, std::string const& args) {
    out_ += "{\"ph\":\"i\",\"s\":\"t\",\"name\":" + json_string(name) + at(e.time_ns) +
            ",\"args\":{" + args + "}},\n";
  }
  // A search or a sleep lasts until the worker's next event.
  void end_waiting(std::int64_t time_ns) {
    if (waiting_->kind == EventKind::park)
      span("parked", *waiting_, time_ns, "");
    else
      span("searching", *waiting_, time_ns, "\"failed rounds\":" + std::to_string(waiting_->count));
    waiting_.reset();
  }

  std::string& out_;
  std::string const where_;
  std::string const counter_;
  std::string const low_counter_;
  std::int64_t const zero_ns_;
  std::vector<Event> tasks_;  // begun and not ended
  std::optional<Event> waiting_;
};

void append_name(std::string& out, char const* what, int runtime, int track,
                 std::string_view name) {
  out += "{\"ph\":\"M\",\"name\":" + json_string(what) + ids(runtime, track) +
         ",\"args\":{\"name\":" + json_string(name) + "}},\n";
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    auto const c = static_cast<unsigned char>(text.front());
    std::size_t const n = base::utf8_character(text);
    if (n == 0) {
      out += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      out += {'\\', text.front()};
    } else if (c < 0x20) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(c));
      out += escaped.data();
    } else {
      out += text.substr(0, n);
    }
    text.remove_prefix(std::max<std::size_t>(n, 1));
  }
  return out + "\"";
}

void append_runtime(std::string& out, int runtime, std::string_view name) {
  append_name(out, "process_name", runtime, 0, name);
}

void append_track_name(std::string& out, int runtime, int track, std::string_view name) {
  append_name(out, "thread_name", runtime, track, name);
  out += "{\"ph\":\"M\",\"name\":\"thread_sort_index\"" + ids(runtime, track) +
         ",\"args\":{\"sort_index\":" + std::to_string(track) + "}},\n";
}

void append_track(std::string& out, int runtime, int track, std::string_view name,
                  std::span<Event const> events, std::int64_t zero_ns, std::int64_t end_ns) {
  TrackWriter writer(out, runtime, track, name, zero_ns);
  for (Event const& e : events) {
    writer.write(e);
    end_ns = std::max(end_ns, e.time_ns);
  }
  writer.end(end_ns);
}

}  // namespace nigh::trace::chrome
