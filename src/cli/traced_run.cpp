// SPDX-License-Identifier: Apache-2.0
#include "cli/traced_run.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "cli/commands.hpp"
#include "json/bounded.hpp"
#include "json/whole_number.hpp"
#include "platform/own_path.hpp"
#include "platform/temporary_folder.hpp"
#include "trace/chrome_json.hpp"

namespace nigh::cli {
namespace fs = std::filesystem;
namespace {

fs::path with_random_end(fs::path path, char const* end) {
  path += "." + std::to_string(std::random_device{}()) + end;
  return path;
}

}  // namespace

TraceFolder TraceFolder::beside(std::string const& output) {
  std::error_code failed;
  fs::path const file = fs::absolute(output, failed);
  if (failed) throw UsageError("--output: cannot write " + output + ": " + failed.message());
  auto const what = fs::status(file, failed);
  if (!file.has_filename() || fs::is_directory(what))
    throw UsageError("--output: cannot write " + output + ": it is a directory");
  if (fs::exists(what) && !fs::is_regular_file(what))
    throw UsageError("--output: cannot write " + output + ": it is no regular file");
  auto const folder = with_random_end(file, ".part");
  if (!fs::create_directory(folder, failed))
    throw UsageError("--output: cannot write " + output + ": " + failed.message());
  return TraceFolder(folder);
}

TraceFolder TraceFolder::temporary() {
  auto const folder = with_random_end(platform::temporary_folder() / "nigh-trace", "");
  if (auto const made = platform::make_new_directory(folder); !made)
    throw std::runtime_error("trace: " + folder.string() + ": " + made.message());
  return TraceFolder(folder);
}

TraceFolder::TraceFolder(TraceFolder&& from) noexcept : path_(std::exchange(from.path_, {})) {}

TraceFolder::~TraceFolder() {
  std::error_code failed;
  if (!path_.empty()) fs::remove_all(path_, failed);
}

std::string TraceFolder::variable() const { return "NIGH_TRACE=" + (path_ / "%p.json").string(); }

std::vector<fs::path> TraceFolder::traces() const {
  std::vector<fs::path> found;
  for (auto const& entry : fs::directory_iterator(path_)) found.push_back(entry.path());
  std::sort(found.begin(), found.end(), [](fs::path const& a, fs::path const& b) {
    auto const& x = a.native();
    auto const& y = b.native();
    return x.size() != y.size() ? x.size() < y.size() : x < y;
  });
  return found;
}

namespace {

constexpr std::int64_t most_ns = std::int64_t{1} << 60;  // sums of a few of these have room

// Thrown within this file: the trace is not as nigh writes it.
struct OddTrace {};

template <class Int>
Int number_in(nlohmann::json const& sums, char const* name, Int otherwise, Int least, Int most) {
  auto const found = sums.find(name);
  if (found == sums.end()) return otherwise;
  auto const number = json::whole_number(*found, least, most);
  if (!number) throw OddTrace{};
  return *number;
}

std::string text_in(nlohmann::json const& sums, char const* name) {
  auto const found = sums.find(name);
  if (found == sums.end()) return {};
  if (!found->is_string()) throw OddTrace{};
  return found->get<std::string>();
}

// The array's objects, at most so many, each as `read` returns it; none where there is no such array.
template <class Read>
auto objects_in(nlohmann::json const& sums, char const* name, std::size_t most, Read const& read) {
  std::vector<std::invoke_result_t<Read const&, nlohmann::json const&>> objects;
  auto const found = sums.find(name);
  if (found == sums.end()) return objects;
  if (!found->is_array() || found->size() > most) throw OddTrace{};
  for (auto const& object : *found) {
    if (!object.is_object()) throw OddTrace{};
    objects.push_back(read(object));
  }
  return objects;
}

TracedCode code_in(nlohmann::json const& code) {
  auto const number = [&](char const* name) {
    return number_in<std::uint64_t>(code, name, 0, 0, UINT64_MAX);
  };
  return {number("code"), text_in(code, "library"), number("tasks"), number("ns")};
}

constexpr std::size_t most_codes = 64;
constexpr unsigned most_threads = 256;

TracedThread thread_in(nlohmann::json const& thread) {
  auto const time = [&](char const* name) {
    return static_cast<std::uint64_t>(number_in<std::int64_t>(thread, name, 0, 0, most_ns));
  };
  return {number_in(thread, "thread", 0U, 0U, most_threads - 1), time("tasks_ns"), time("own_ns"),
          time("searching_ns"), time("asleep_ns")};
}

ReadTrace read_sums(nlohmann::json const& sums) {
  constexpr int most_int = std::numeric_limits<int>::max();
  constexpr int most_runtimes = 1'000'000;
  auto const time = [&](char const* name) {
    return number_in<std::int64_t>(sums, name, 0, -most_ns, most_ns);
  };
  auto const number = [](nlohmann::json const& in, std::string const& name) {
    return number_in<std::uint64_t>(in, name.c_str(), 0, 0, UINT64_MAX);
  };
  ReadTrace read;
  read.process = number_in(sums, "process", 0, 0, most_int);
  read.program = text_in(sums, "program");
  read.zero_ns = time("zero_ns");
  if (sums.contains("rank"))
    read.rank = {number_in(sums, "rank", 0, 0, most_int), number_in(sums, "ranks", 1, 1, most_int),
                 text_in(sums, "host"), time("to_rank_0_ns"), time("clock_error_ns")};
  auto& s = read.summary;
  s.runtimes = number_in<std::uint64_t>(sums, "runtimes", 0, 0, most_runtimes);
  s.workers = number(sums, "workers");
  s.created = number(sums, "created");
  s.serialized = number(sums, "serialized");
  auto const steals = sums.find("steals");
  if (steals == sums.end() || !steals->is_object()) throw OddTrace{};
  for (std::size_t l = 0; l < trace::level_count; ++l)
    s.steals[l] = number(*steals, std::string(to_string(static_cast<level>(l))));
  s.stolen = number(sums, "stolen");
  s.failed = number(sums, "failed");
  s.parks = number(sums, "parks");
  s.busy_ns = number(sums, "busy_ns");
  s.elapsed_ns = number(sums, "elapsed_ns");
  s.events_lost = number(sums, "events_lost");
  read.ended = s.runtimes > 0;
  read.file = text_in(sums, "file");
  read.codes = objects_in(sums, "codes", most_codes, code_in);
  read.threads = objects_in(sums, "threads", most_threads, thread_in);
  std::ranges::sort(read.threads, {}, &TracedThread::number);
  return read;
}

}  // namespace

namespace {

// The sums are in the last lines, after events that may be many millions of bytes. They are longest
// where many codes are in libraries with long paths.
std::string sums_at_end(fs::path const& file) {
  constexpr std::uintmax_t usual = 1 << 16, most = 1 << 22;
  std::error_code failed;
  auto const size = fs::file_size(file, failed);
  if (failed) return {};
  for (auto length = usual; length <= most; length *= 4) {
    std::ifstream in(file, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(size - std::min(size, length)));
    std::string const end{std::istreambuf_iterator<char>(in), {}};
    auto const at = end.rfind("\n],\"otherData\":");
    if (at != std::string::npos) return "{" + end.substr(at + 3);
    if (length >= size) break;
  }
  return {};
}

}  // namespace

std::optional<ReadTrace> read_trace(fs::path const& file) {
  auto const sums = sums_at_end(file);
  if (sums.empty()) return std::nullopt;
  auto const read = json::read(sums);
  if (!read || !read->at("otherData").is_object()) return std::nullopt;
  try {
    return read_sums(read->at("otherData"));
  } catch (OddTrace const&) {
    return std::nullopt;
  }
}

// Each event is a line; those of tasks are called "task@", with the number of their code.
bool name_tasks(fs::path const& trace, std::vector<std::string> const& names) {
  constexpr std::string_view before = R"({"ph":"X","name":"task@)";
  auto const changed = with_random_end(trace, ".named");
  std::ifstream in(trace, std::ios::binary);
  std::ofstream out(changed, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    std::size_t number = 0;
    char const* const first = line.data() + std::min(before.size(), line.size());
    auto const [last, wrong] = std::from_chars(first, line.data() + line.size(), number);
    if (line.starts_with(before) && wrong == std::errc{} && number < names.size())
      line.replace(0, static_cast<std::size_t>(last - line.data()) + 1,
                   R"({"ph":"X","name":)" + trace::chrome::json_string("task " + names[number]));
    out << line << '\n';
  }
  out.close();
  std::error_code failed;
  if (in.bad() || !out) return fs::remove(changed, failed), false;
  fs::rename(changed, trace, failed);
  return !failed;
}

}  // namespace nigh::cli
