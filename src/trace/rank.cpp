// SPDX-License-Identifier: Apache-2.0
#include "trace/rank.hpp"

#include <mutex>

#include "trace/chrome_json.hpp"

namespace nigh::trace {
namespace {

struct Known {
  std::mutex lock;
  std::optional<Rank> rank;

  static Known& get() {
    static auto* const here = new Known;  // never freed: traces are written at the program's end
    return *here;
  }
};

}  // namespace

void set_rank(Rank const& rank) {
  auto& known = Known::get();
  std::lock_guard const guard(known.lock);
  known.rank = rank;
}

std::optional<Rank> this_rank() {
  auto& known = Known::get();
  std::lock_guard const guard(known.lock);
  return known.rank;
}

std::string json_members(Rank const& r) {
  return "\"rank\":" + std::to_string(r.rank) + ",\"ranks\":" + std::to_string(r.ranks) +
         ",\"host\":" + chrome::json_string(r.host) +
         ",\"to_rank_0_ns\":" + std::to_string(r.to_rank_0_ns) +
         ",\"clock_error_ns\":" + std::to_string(r.clock_error_ns) + ",";
}

}  // namespace nigh::trace
