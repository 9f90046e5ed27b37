// SPDX-License-Identifier: Apache-2.0
// The study as tables for people, and as results for scripts.

#include <fmt/core.h>

#include <algorithm>

#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "bench/temporal/study.hpp"

namespace bench {

ByDistance::ByDistance(TemporalStudy const& study) {
  for (TemporalCell const& cell : study.cells)
    for (CpuDistance const& d : cell.cpus) round_trips_.push_back(d.before);
  if (round_trips_.empty()) return;
  longest_near_ = 2 * *std::min_element(round_trips_.begin(), round_trips_.end());
  for (TemporalCell const& cell : study.cells)
    for (std::size_t n = 0; n < cell.cpus.size(); ++n)
      copies_[kind_of(cell.cpus[n].before)].push_back(cell.copy_rates[n]);
}

std::vector<double> ByDistance::rates(TemporalCell const& cell, Kind kind) const {
  std::vector<double> found;
  for (std::size_t n = 0; n < cell.cpus.size(); ++n)
    if (kind_of(cell.cpus[n].before) == kind && kind_of(cell.cpus[n].after) == kind)
      found.push_back(cell.rates[n]);
  return found;
}

std::optional<double> ByDistance::of_limit(TemporalCell const& cell, Kind kind) const {
  auto const found = rates(cell, kind);
  if (found.empty()) return std::nullopt;
  return median_of(found) / median_of(copies_[kind]);
}

std::string ByDistance::describe_cpus() const {
  if (round_trips_.empty()) return "";
  Statistics const trip = statistics_of(round_trips_);
  auto out = fmt::format(
      "cpus: a cache line goes from the first to the second and back in {:.0f} ns ({:.0f} to "
      "{:.0f})\n",
      trip.median, trip.min, trip.max);
  if (!both()) return out;
  for (Kind const kind : {near, far}) {
    Statistics const c = statistics_of(copies_[kind]);
    out += fmt::format(
        "      {} {:.0f} ns at {} of {} copies: limit {:.0f} MLUP/s ({:.0f} to {:.0f})\n",
        kind == near ? "up to" : "above", longest_near_, copies_[kind].size(), round_trips_.size(),
        c.median, c.min, c.max);
  }
  return out;
}

std::string ByDistance::describe_limit(TemporalCell const& cell) const {
  if (!both()) return "";
  auto const of = [&](Kind kind) {
    auto const share = of_limit(cell, kind);
    return share ? fmt::format("{:.2f} ({} of {} samples)", *share, rates(cell, kind).size(),
                               cell.rates.size())
                 : "no sample";
  };
  return fmt::format("the same by where the cpus were: {} up to {:.0f} ns, {} above\n", of(near),
                     longest_near_, of(far));
}

namespace {

std::string text(jacobi3d::Extent const& e) { return fmt::format("{}x{}x{}", e.i, e.j, e.k); }

TemporalCell const* find(TemporalStudy const& s, std::string_view name, bool obstacles) {
  for (TemporalCell const& c : s.cells)
    if (c.name == name && c.obstacles == obstacles && c.why_absent.empty()) return &c;
  return nullptr;
}

// The best of all tiles of this kind with a width that was asked for.
TemporalCell const* best(TemporalStudy const& s, std::string_view kind, bool obstacles) {
  TemporalCell const* found = nullptr;
  for (TemporalCell const& c : s.cells)
    if (c.name.starts_with(std::string(kind) + " ") && c.obstacles == obstacles &&
        (found == nullptr || median_of(c.rates) > median_of(found->rates)))
      found = &c;
  return found;
}

std::vector<double> all_copies(TemporalStudy const& s) {
  std::vector<double> all;
  for (TemporalCell const& c : s.cells)
    all.insert(all.end(), c.copy_rates.begin(), c.copy_rates.end());
  return all;
}

// The limits of memory and of the cores.
std::string bounds(TemporalStudy const& s, ByDistance const& by) {
  Statistics const copies = statistics_of(all_copies(s)), cached = statistics_of(s.cached_rates);
  return fmt::format(
             "limit: {:.0f} MLUP/s by the median copy, {:.0f} by the slowest, {:.0f} by the "
             "fastest ({} "
             "stores,\n       16 bytes an update); each sample is held to the copy right before "
             "it\n"
             "cores: {:.0f} MLUP/s ({:.0f} to {:.0f}), this update on data that stays in each "
             "core's "
             "caches\n",
             copies.median, copies.min, copies.max, s.streaming_copy ? "streaming" : "plain",
             cached.median, cached.min, cached.max) +
         by.describe_cpus();
}

std::string table(TemporalStudy const& s, bool obstacles) {
  Table t;
  t.row({"variant", "width", "KiB in use", "B/update", "MLUP/s", "min", "max", "of limit"});
  t.rule();
  for (TemporalCell const& c : s.cells) {
    if (c.obstacles != obstacles) continue;
    if (!c.why_absent.empty()) {
      t.row({c.name, "absent: " + c.why_absent});
      continue;
    }
    Statistics const r = statistics_of(c.rates);
    t.row({c.name, c.width > 0 ? std::to_string(c.width) : "-",
           c.width > 0 ? fmt::format("{:.0f}", c.window_kib) : "-",
           fmt::format("{:.1f}", c.bytes_per_update), fmt::format("{:.0f}", r.median),
           fmt::format("{:.0f}", r.min), fmt::format("{:.0f}", r.max),
           fmt::format("{:.2f}{}", median_of_ratios(c.rates, c.copy_rates),
                       c.verified ? "" : " WRONG")});
  }
  return t.text();
}

std::string ratio(TemporalCell const* a, TemporalCell const* b) {
  return a == nullptr || b == nullptr ? "unknown"
                                      : fmt::format("{:.2f}", median_of_ratios(a->rates, b->rates));
}

std::string conclusions(TemporalStudy const& s, ByDistance const& by, TemporalOptions const& all,
                        bool obstacles) {
  auto const* const chosen = find(s, "nigh/temporal", obstacles);
  auto const* const ours = best(s, "nigh/temporal", obstacles);
  auto const* const theirs = best(s, "openmp/temporal", obstacles);
  std::string out;
  if (chosen != nullptr)
    out = fmt::format(
              "chosen tiles beside the limit: {:.2f} by the median copy, {:.2f} by the copy before "
              "each\n",
              median_of(chosen->rates) / median_of(all_copies(s)),
              median_of_ratios(chosen->rates, chosen->copy_rates)) +
          by.describe_limit(*chosen);
  out += fmt::format("chosen tiles beside the best of those searched ({}): {}\n",
                     ours ? ours->name : "none", ratio(chosen, ours));
  if (all.search) return out;
  out += fmt::format("chosen tiles beside the best static ones with barriers ({}): {}\n",
                     theirs ? theirs->name : "none", ratio(chosen, theirs));
  if (ours != nullptr)
    out += fmt::format(
        "width {} beside the same tiles with barriers: {}\n", ours->width,
        ratio(ours, find(s, "openmp/temporal " + std::to_string(ours->width), obstacles)));
  return out;
}

}  // namespace

std::string describe(TemporalStudy const& s, TemporalOptions const& all) {
  JacobiOptions const& o = *all.solver;
  ByDistance const by(s);
  std::string out = fmt::format(
      "Jacobi {}, {} time steps, {} threads, {} kernel; medians of {} samples, all variants in "
      "turn\n{}",
      text(o.grid), all.steps, o.team.threads(), o.kernel.isa, o.repetitions, bounds(s, by));
  for (bool const obstacles : all.obstacles)
    out += fmt::format("\n{}\n\n{}\n{}",
                       obstacles ? "with obstacles: three eighths of the sites are solid, all in "
                                   "the first half of the planes"
                                 : "empty grid",
                       table(s, obstacles), conclusions(s, by, all, obstacles));
  bool const verified =
      std::all_of(s.cells.begin(), s.cells.end(), [](auto const& c) { return c.verified; });
  return out +
         fmt::format("\na tile without its update: {:.2f} us of a worker\n", s.empty_tile_us) +
         (verified ? "All fields are the same, bit for bit (checksum).\n"
                   : "WRONG: a field differs from that of plain sweeps.\n");
}

std::vector<Result> results(TemporalStudy const& s, TemporalOptions const& all) {
  JacobiOptions const& o = *all.solver;
  ByDistance const by(s);
  std::vector<Result> list;
  for (TemporalCell const& c : s.cells) {
    Result r;
    r.bench = "temporal";
    r.variant = c.name;
    r.params = {{"grid", text(o.grid)},
                {"steps", static_cast<long>(all.steps)},
                {"threads", static_cast<long>(o.team.threads())},
                {"isa", std::string(o.kernel.isa)},
                {"pages", o.huge_pages ? "huge" : "small"},
                {"width", static_cast<long>(c.width)},
                {"obstacles", c.obstacles ? "yes" : "no"}};
    r.metric = "rate";
    r.unit = "MLUP/s";
    r.absent = c.why_absent;
    if (c.why_absent.empty()) {
      r.samples = c.rates;
      r.verified = c.verified;
      r.counters = {{"limit_mlups", median_of(c.copy_rates)},
                    {"of_limit", median_of_ratios(c.rates, c.copy_rates)},
                    {"bytes_per_update", c.bytes_per_update},
                    {"window_kib", c.window_kib}};
      if (by.both()) {
        if (auto const near = by.of_limit(c, ByDistance::near)) r.counters["of_limit_near"] = *near;
        if (auto const far = by.of_limit(c, ByDistance::far)) r.counters["of_limit_far"] = *far;
      }
    }
    list.push_back(std::move(r));
  }
  auto const add = [&](char const* name, char const* metric, char const* unit,
                       std::vector<double> samples) {
    Result r;
    r.bench = "temporal";
    r.variant = name;
    r.params = {{"threads", static_cast<long>(o.team.threads())}};
    r.metric = metric;
    r.unit = unit;
    r.samples = std::move(samples);
    list.push_back(std::move(r));
  };
  add("limit", "rate", "MLUP/s", all_copies(s));
  if (!by.round_trips().empty()) add("cpus", "round_trip", "ns", by.round_trips());
  add("cores", "rate", "MLUP/s", s.cached_rates);
  add("empty tile", "time", "us", {s.empty_tile_us});
  return list;
}

}  // namespace bench
