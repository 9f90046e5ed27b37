// SPDX-License-Identifier: Apache-2.0
#include "cli/traced_run.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <system_error>
#include <utility>

#include "cli/commands.hpp"

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
  fs::path const file = fs::absolute(output);
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
  auto const folder = with_random_end(fs::temp_directory_path() / "nigh-trace", "");
  fs::create_directory(folder);
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

// The sums stand in the last lines, behind events that may be many millions of bytes.
std::optional<ReadTrace> read_trace(fs::path const& file) {
  constexpr std::uintmax_t enough = 1 << 16;
  std::error_code failed;
  auto const size = fs::file_size(file, failed);
  if (failed) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(size - std::min(size, enough)));
  std::string const end{std::istreambuf_iterator<char>(in), {}};
  auto const at = end.rfind("\n],\"otherData\":");
  if (at == std::string::npos) return std::nullopt;
  auto const json = nlohmann::json::parse("{" + end.substr(at + 3), nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  auto const& sums = json["otherData"];
  ReadTrace read;
  read.process = sums.value("process", 0);
  read.program = sums.value("program", "");
  read.zero_ns = sums.value("zero_ns", std::int64_t{0});
  if (sums.contains("rank"))
    read.rank = {sums.value("rank", 0), sums.value("ranks", 1), sums.value("host", ""),
                 sums.value("to_rank_0_ns", std::int64_t{0}),
                 sums.value("clock_error_ns", std::int64_t{0})};
  auto const number = [&sums](char const* name) { return sums.value(name, std::uint64_t{0}); };
  auto& s = read.summary;
  s.runtimes = number("runtimes");
  s.workers = number("workers");
  s.created = number("created");
  s.serialized = number("serialized");
  for (std::size_t l = 0; l < trace::level_count; ++l)
    s.steals[l] =
        sums["steals"].value(std::string(to_string(static_cast<level>(l))), std::uint64_t{0});
  s.stolen = number("stolen");
  s.failed = number("failed");
  s.parks = number("parks");
  s.busy_ns = number("busy_ns");
  s.elapsed_ns = number("elapsed_ns");
  s.events_lost = number("events_lost");
  read.ended = s.runtimes > 0;
  return read;
}

}  // namespace nigh::cli
