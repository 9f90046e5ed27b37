// SPDX-License-Identifier: Apache-2.0
#include "cli/merge_traces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "platform/progress.hpp"
#include "platform/replaced_file.hpp"
#include "trace/chrome_json.hpp"

namespace nigh::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t tracks_of_a_runtime = 100'000;  // as chrome_json numbers threads
constexpr std::int64_t largest_number =
    1'000'000'000'000;               // of a runtime or thread; a product has room
constexpr double longest_us = 1e12;  // 11 days

// The zero of the file's times, by rank 0's clock.
std::int64_t zero_ns(RankTrace const& t) { return t.read.zero_ns + t.rank.to_rank_0_ns; }

// One rank's events, moved to their place among those of all ranks. Each is on one line, as this
// nigh has written it, and quotes inside names are escaped: so a search for text finds it only
// where it is meant.
class Mover {
 public:
  Mover(RankTrace const& t, std::int64_t runtimes_before, std::int64_t late_ns)
      : file_(t.file.string()),
        who_(fmt::format("rank {} on {}: ", t.rank.rank, t.rank.host)),
        runtimes_before_(runtimes_before),
        late_ns_(late_ns) {}

  std::string moved(std::string line) const {
    auto const runtime = number_behind(",\"pid\":", line) + runtimes_before_;
    auto const track = number_behind(",\"tid\":", line) % tracks_of_a_runtime;
    replace_behind(",\"pid\":", std::to_string(runtime), line);
    replace_behind(",\"tid\":", std::to_string(runtime * tracks_of_a_runtime + track), line);
    if (auto const at = line.find(ts); at != line.npos) replace_behind(ts, later(line, at), line);
    if (line.starts_with(R"({"ph":"M","name":"process_name")")) {
      auto const quoted = trace::chrome::json_string(who_);
      line.insert(behind("\"args\":{\"name\":\"", line), quoted.substr(1, quoted.size() - 2));
    }
    return line;
  }

 private:
  static constexpr std::string_view ts = ",\"ts\":";

  [[noreturn]] void fail() const { throw std::runtime_error(file_ + " is no trace of this nigh"); }

  std::size_t behind(std::string_view key, std::string const& line) const {
    auto const at = line.find(key);
    if (at == line.npos) fail();
    return at + key.size();
  }
  std::int64_t number_behind(std::string_view key, std::string const& line) const {
    auto const at = behind(key, line);
    std::int64_t n = 0;
    if (std::from_chars(line.data() + at, line.data() + line.size(), n).ec != std::errc()) fail();
    if (n < 0 || n > largest_number) fail();
    return n;
  }
  void replace_behind(std::string_view key, std::string const& value, std::string& line) const {
    auto const at = behind(key, line);
    line.replace(at, std::min(line.find_first_not_of("-.0123456789", at), line.size()) - at, value);
  }
  std::string later(std::string const& line, std::size_t at) const {
    double const us = std::strtod(line.c_str() + at + ts.size(), nullptr);
    if (!(std::abs(us) <= longest_us)) fail();
    auto const ns = std::llround(us * 1e3) + late_ns_;
    return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000);
  }

  std::string const file_, who_;
  std::int64_t const runtimes_before_;
  std::int64_t const late_ns_;
};

// Its stream remembers a failure.
void write(std::FILE* out, std::string_view text) { std::fwrite(text.data(), 1, text.size(), out); }

// Appends its events.
void move_events(RankTrace const& t, Mover const& mover, std::FILE* out, bool& is_first) {
  std::ifstream in(t.file, std::ios::binary);
  std::string line;
  if (!std::getline(in, line) || !line.ends_with("\"traceEvents\":["))
    throw std::runtime_error(t.file.string() + " is no trace of this nigh");
  while (std::getline(in, line) && !line.starts_with("],\"otherData\":")) {
    if (line.empty()) continue;
    if (line.ends_with(',')) line.pop_back();
    write(out, is_first ? "" : ",\n");
    write(out, mover.moved(std::move(line)));
    is_first = false;
  }
}

std::string sums(std::vector<RankTrace> const& traces) {
  trace::Summary all;
  for (auto const& t : traces) all = all + t.read.summary;
  return fmt::format(
      R"({{"format":{},"program":{},"process":{},"ranks":{},"clock_error_ns":{},{}}})",
      trace::chrome::format, trace::chrome::json_string(traces[0].read.program),
      traces[0].read.process, traces.size(), clock_error_ns(traces), json_members(all));
}

}  // namespace

std::vector<RankTrace> rank_traces(std::vector<fs::path> const& files) {
  std::vector<RankTrace> found;
  for (auto const& file : files)
    if (auto read = read_trace(file); read && read->rank)
      found.push_back({file, *read, *read->rank});
  std::stable_sort(found.begin(), found.end(), [](RankTrace const& a, RankTrace const& b) {
    return a.rank.rank < b.rank.rank;
  });
  return found;
}

std::vector<RankTrace> written(std::vector<RankTrace> const& traces) {
  std::vector<RankTrace> found;
  std::copy_if(traces.begin(), traces.end(), std::back_inserter(found),
               [](RankTrace const& t) { return t.read.ended; });
  return found;
}

std::string misfit(std::vector<RankTrace> const& traces) {
  for (std::size_t i = 1; i < traces.size(); ++i) {
    auto const &a = traces[i - 1].rank, &b = traces[i].rank;
    auto const files =
        fmt::format("{} and {}", traces[i - 1].file.string(), traces[i].file.string());
    if (a.rank == b.rank) return fmt::format("{} are both of rank {}", files, a.rank);
    if (a.ranks != b.ranks)
      return fmt::format("{} are of jobs of {} and {} ranks", files, a.ranks, b.ranks);
  }
  return {};
}

std::int64_t clock_error_ns(std::vector<RankTrace> const& traces) {
  std::int64_t largest = 0, second = 0;
  for (auto const& t : traces) {
    second = std::max(second, std::min(largest, t.rank.clock_error_ns));
    largest = std::max(largest, t.rank.clock_error_ns);
  }
  return largest + second;
}

void merge_traces(std::vector<RankTrace> const& traces, fs::path const& output) {
  auto const first = std::min_element(
      traces.begin(), traces.end(),
      [](RankTrace const& a, RankTrace const& b) { return zero_ns(a) < zero_ns(b); });
  auto made = platform::Replacement::beside(output);
  if (!made) throw std::runtime_error("cannot write " + output.string() + ": " + made.message());
  auto* const out = made->file();
  write(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  bool is_first = true;
  std::int64_t runtimes = 0;
  platform::Progress progress(static_cast<int>(traces.size()));
  for (auto const& t : traces) {
    progress.step(t.file.string());
    move_events(t, Mover(t, runtimes, zero_ns(t) - zero_ns(*first)), out, is_first);
    runtimes += static_cast<std::int64_t>(t.read.summary.runtimes);
  }
  write(out, "\n],\"otherData\":" + sums(traces) + "}\n");
  if (auto const done = made->put_in_place(); !done)
    throw std::runtime_error("cannot write " + output.string() + ": " + done.message());
}

}  // namespace nigh::cli
