// SPDX-License-Identifier: Apache-2.0
// Traces of a job's ranks for nigh trace --merge: up to four in one input, each behind a line "===
// rank". The merged text is JSON whose end can be read again.
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/merge_traces.hpp"
#include "fuzz/entry.hpp"
#include "fuzz/temporary_files.hpp"

namespace {

std::vector<std::filesystem::path> files_in(std::string_view text,
                                            fuzz::TemporaryFiles const& folder) {
  constexpr std::string_view border = "=== rank\n";
  constexpr std::size_t most = 4;
  std::vector<std::filesystem::path> files;
  for (std::size_t at = 0; at <= text.size() && files.size() < most;) {
    auto const end = std::min(text.find(border, at), text.size());
    if (end > 0)
      files.push_back(
          folder.write(std::to_string(files.size()) + ".json", text.substr(at, end - at)));
    at = end + border.size();
  }
  return files;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace nigh::cli;
  static fuzz::TemporaryFiles const folder;
  auto const traces = rank_traces(files_in(fuzz::text_of(data, size), folder));
  if (traces.empty() || !misfit(traces).empty()) return 0;
  static_cast<void>(clock_error_ns(traces));
  auto const output = folder.path("all.json");
  try {
    merge_traces(traces, output);
  } catch (std::runtime_error const&) {  // it names the file that is none of ours
    return 0;
  }
  auto const read = read_trace(output);
  fuzz::require(read && !read->rank, "a merged trace can be read, and is of no rank");
  static_cast<void>(text(read->summary, {}));
  return 0;
}
