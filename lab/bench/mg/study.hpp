// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every class, number of threads, binding and memory policy by every variant; all in turn.

#include <string>
#include <vector>

#include "bench/mg/options.hpp"
#include "bench/results.hpp"

namespace bench {

struct MgCell {
  npb_mg::Class const* size = nullptr;
  npb_mg::VariantInfo const* variant = nullptr;
  int threads = 1;
  Bind bind = Bind::compact;
  Mem mem = Mem::first_touch;

  std::vector<double> seconds;  // one for each repetition
  std::vector<double> misses;   // of the last cache, where they could be counted
  std::size_t bytes = 0;        // of the fields
  bool verified = true;
  std::string absent;  // why there are no samples

  bool same_setting(MgCell const& other) const noexcept {
    return size == other.size && threads == other.threads && bind == other.bind && mem == other.mem;
  }
};

struct MgStudy {
  std::vector<MgCell> cells;
  std::string no_counters;  // why misses were not counted

  // Median over repetitions of (other's seconds / this one's): how much faster.
  double speed_over(MgCell const& cell, MgCell const& other) const;
  // The cell of that variant under the same setting; null: none that was measured.
  MgCell const* beside(MgCell const& cell, std::string_view variant) const;
  // The same cell on one thread; null likewise.
  MgCell const* on_one_thread(MgCell const& cell) const;
};

MgStudy study(MgOptions const& options);
std::string describe(MgStudy const& study, MgOptions const& options);
std::vector<Result> results(MgStudy const& study, MgOptions const& options);

}  // namespace bench
