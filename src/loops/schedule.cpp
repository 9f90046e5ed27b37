// SPDX-License-Identifier: Apache-2.0
// Making schedules: by function, from text, as an array is placed.

#include <nigh/schedule.hpp>
#include <stdexcept>

#include "memory/record.hpp"
#include "policy/loops/loop_schedule.hpp"
#include "settings/schedule_names.hpp"

namespace nigh {
namespace {

schedule chunked(schedule_kind kind, std::size_t chunk, char const* what) {
  if (chunk == 0) throw std::invalid_argument(std::string(what) + ": a chunk of 0 iterations");
  return {kind, chunk};
}

constexpr std::size_t most_runs = 65536;

// An element belongs to the run of pages in which its first byte lies.
std::vector<policy::LocalMap::Run> runs_of(policy::PlacementMap const& placed, std::size_t bytes) {
  auto const from = [bytes](std::size_t offset) { return offset / bytes + (offset % bytes != 0); };
  std::vector<policy::LocalMap::Run> runs;
  for (std::size_t at = 0; at < placed.bytes();) {
    auto const run = placed.run_from(at);
    runs.push_back({from(at), from(at + run.bytes), run.domain});
    at += run.bytes;
  }
  return runs;
}

struct OwnMap : detail::kept_map {
  explicit OwnMap(std::vector<policy::LocalMap::Run> runs) : kept_map{&own, &destroy_this}, own(std::move(runs)) {}
  static void destroy_this(kept_map* self) noexcept { delete static_cast<OwnMap*>(self); }
  policy::LocalMap own;
};

}  // namespace

schedule static_schedule() { return {schedule_kind::static_blocks, 1}; }
schedule static_schedule(std::size_t chunk) {
  return chunked(schedule_kind::static_chunks, chunk, "static_schedule");
}
schedule dynamic_schedule(std::size_t chunk) {
  return chunked(schedule_kind::dynamic, chunk, "dynamic_schedule");
}
schedule guided_schedule(std::size_t smallest) {
  return chunked(schedule_kind::guided, smallest, "guided_schedule");
}
schedule adaptive_schedule() { return {schedule_kind::adaptive, 1}; }
schedule local_schedule() { return {schedule_kind::local, 1}; }

detail::shared_map detail::map_of(placed_block const& memory, std::size_t bytes_per_iteration) {
  auto const* const record = memory.record();
  if (record == nullptr || record->map.bytes() == 0 || record->map.domains().size() < 2 ||
      record->map.runs(most_runs) > most_runs)
    return {};
  return shared_map(new OwnMap(runs_of(record->map, bytes_per_iteration)));
}

result<schedule> parse_schedule(std::string_view text) {
  auto const words = settings::parse_schedule(text);
  if (!words) return words.to_error();
  return schedule(words->kind, words->chunk);
}

std::string to_string(schedule const& how) { return settings::to_string(how.kind(), how.chunk()); }

}  // namespace nigh
