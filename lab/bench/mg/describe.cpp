// SPDX-License-Identifier: Apache-2.0
// The study as tables for people, and as results for scripts.
#include <fmt/core.h>

#include "bench/mg/study.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {

namespace {

constexpr char const* reference = "openmp/static";

std::string times(MgStudy const& s, MgCell const& cell, MgCell const* other) {
  return other == nullptr ? "" : fmt::format("{:.2f}", s.speed_over(cell, *other));
}

std::vector<std::string> columns(MgStudy const& s, MgCell const& cell) {
  Statistics const t = statistics_of(cell.seconds);
  return {cell.variant->name,
          fmt::format("{:.4g}", t.median),
          fmt::format("{:.0f}", npb_mg::mops(*cell.size, t.median)),
          fmt::format("{:.0f}%", t.median > 0 ? 100 * (t.max - t.min) / t.median : 0),
          times(s, cell, s.beside(cell, reference)),
          times(s, cell, s.on_one_thread(cell)),
          cell.misses.empty() ? "" : fmt::format("{:.1f}", median_of(cell.misses) * 64 / 1e9),
          cell.verified ? "yes" : "NO"};
}

std::string title(MgCell const& c, MgOptions const& o) {
  std::string text =
      fmt::format("class {}: {}^3, {} iterations; {} thread{}", c.size->name, c.size->n,
                  c.size->iterations, c.threads, c.threads == 1 ? "" : "s");
  if (o.machine.domains().size() > 1)
    text += fmt::format(", {}, {}", to_string(c.bind), to_string(c.mem));
  return text;
}

}  // namespace

std::string describe(MgStudy const& s, MgOptions const& o) {
  std::string text = fmt::format(
      "NPB multigrid: seconds of the timed part, median of {} samples, all variants in turn;\n"
      "x openmp, x 1 thread: how much faster than {} beside it, and than itself on one thread\n"
      "(medians of the ratios sample by sample); GB: misses of the last cache, 64 bytes each;\n"
      "{} operators, {} pages\n",
      o.repetitions, reference, o.kernel->isa, o.huge_pages ? "huge" : "small");
  for (std::size_t at = 0; at < s.cells.size();) {
    MgCell const& first = s.cells[at];
    Table t;
    t.row({"", "seconds", "Mop/s", "spread", "x openmp", "x 1 thread", "GB", "verified"});
    t.rule();
    for (; at < s.cells.size() && s.cells[at].same_setting(first); ++at)
      if (s.cells[at].absent.empty()) t.row(columns(s, s.cells[at]));
    text += fmt::format("\n{}\n\n{}", title(first, o), t.text());
  }
  text += '\n';
  for (npb_mg::VariantInfo const* const v : o.variants)
    if (v->make == nullptr) text += fmt::format("absent: {}: {}\n", v->name, v->why_absent);
  for (std::string const& what : o.left_out) text += fmt::format("left out: {}\n", what);
  if (!s.no_counters.empty()) text += fmt::format("misses of the last cache: {}\n", s.no_counters);
  return text;
}

std::vector<Result> results(MgStudy const& s, MgOptions const& o) {
  std::vector<Result> all;
  for (MgCell const& cell : s.cells) {
    Result r;
    r.bench = "mg";
    r.variant = cell.variant->name;
    r.params = {{"class", std::string(1, cell.size->name)},
                {"n", static_cast<long>(cell.size->n)},
                {"iterations", static_cast<long>(cell.size->iterations)},
                {"threads", static_cast<long>(cell.threads)},
                {"bind", std::string(to_string(cell.bind))},
                {"mem", std::string(to_string(cell.mem))},
                {"isa", std::string(o.kernel->isa)},
                {"pages", std::string(o.huge_pages ? "huge" : "small")}};
    r.metric = "rate";
    r.unit = "Mop/s";
    for (double const t : cell.seconds) r.samples.push_back(npb_mg::mops(*cell.size, t));
    r.verified = cell.verified;
    r.absent = cell.absent;
    r.counters = {{"seconds", median_of(cell.seconds)},
                  {"field_bytes", static_cast<long>(cell.bytes)}};
    if (MgCell const* other = s.beside(cell, reference))
      r.counters["speed_over_openmp_static"] = s.speed_over(cell, *other);
    if (MgCell const* one = s.on_one_thread(cell))
      r.counters["speed_over_one_thread"] = s.speed_over(cell, *one);
    if (!cell.misses.empty()) r.counters["last_cache_misses"] = median_of(cell.misses);
    all.push_back(std::move(r));
  }
  return all;
}

}  // namespace bench
