// SPDX-License-Identifier: Apache-2.0
// The comparison as tables for people, and as results for scripts.

#include "bench/jacobi3d/compare.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "platform/progress.hpp"

namespace bench {

namespace {

using jacobi3d::Init;
using jacobi3d::Order;
using jacobi3d::VariantInfo;

std::vector<Cell> cells_of(Init init) {
  std::vector<Cell> cells;
  for (VariantInfo const& v : jacobi3d::variants()) {
    if (v.name == "serial" || v.name == "nigh/queues-strict") continue;  // for single runs
    bool const has_ld0 = v.name.ends_with("/static") || v.name == "nigh/queues";
    if (v.make == nullptr || (init == Init::ld0 && !has_ld0)) continue;
    cells.push_back({&v, Order::kji, init});
    if (!v.by_tasks || init == Init::ld0) continue;
    cells.push_back({&v, Order::jki, init});
    if (v.name.ends_with("queues")) cells.push_back({&v, Order::strips, init});
  }
  return cells;
}

// The field after so many sweeps, by the definition.
std::uint64_t expected_checksum(JacobiOptions const& o, PinnedThreads& pinned) {
  Problem problem(o, Init::contiguous, pinned);
  problem.run_reference(o.sweeps);
  return problem.checksum();
}

double copy_rate(Problem& problem, PinnedThreads& pinned, Stores stores) {
  constexpr int times = 2;
  double seconds = 0;
  for (int n = 0; n < times; ++n)
    seconds +=
        seconds_to_copy(pinned, problem.first(), problem.second(), problem.elements(), stores);
  return static_cast<double>(problem.elements()) * times / seconds / 1e6;
}

// Threads of the variant before are asleep by then.
void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

}  // namespace

double Comparison::limit(Stores stores) const {
  std::vector<double> all;
  for (auto const& [cell, m] : measured)
    if (auto const found = m.copies.find(stores); found != m.copies.end())
      all.insert(all.end(), found->second.begin(), found->second.end());
  return median_of(all);
}

double share_of_limit(Measured const& m, Stores stores) {
  auto const found = m.copies.find(stores);
  if (found == m.copies.end()) return 0;
  std::vector<double> shares;
  for (std::size_t n = 0; n < m.rates.size(); ++n) shares.push_back(m.rates[n] / found->second[n]);
  return median_of(shares);
}

Comparison compare(JacobiOptions const& o) {
  constexpr Init inits[] = {Init::contiguous, Init::round_robin, Init::ld0};
  Comparison c;
  for (Init const init : inits)
    for (Cell const& cell : cells_of(init)) c.cells.push_back(cell);

  PinnedThreads pinned(o.team.cpus);
  std::map<std::string, std::unique_ptr<jacobi3d::Variant>> alive;
  double const updates = static_cast<double>(o.grid.sites()) * o.sweeps;
  nigh::platform::Progress progress(1 + o.repetitions * static_cast<int>(c.cells.size()));
  progress.step("serial reference");
  std::uint64_t const expected = expected_checksum(o, pinned);

  for (int repetition = 0; repetition < o.repetitions; ++repetition)
    for (Init const init : inits) {
      Problem problem(o, init, pinned);
      for (Cell const& cell : c.cells) {
        if (cell.init != init) continue;
        progress.step(cell.variant->name);
        auto& variant = alive[cell.variant->name];
        if (variant == nullptr) variant = cell.variant->make(o.team);
        Measured& m = c.measured[cell];
        for (Stores const stores : {Stores::plain, Stores::streaming})
          if (stores == Stores::plain || streaming_copy_available())
            m.copies[stores].push_back(copy_rate(problem, pinned, stores));
        problem.submit_in(cell.order);
        problem.refill();
        settle();
        double const seconds = problem.run(*variant, o.kernel, o.sweeps);
        m.rates.push_back(updates / seconds / 1e6);
        m.blocks.local += problem.blocks_run().local;
        m.blocks.remote += problem.blocks_run().remote;
        m.blocks.unknown += problem.blocks_run().unknown;
        m.verified = m.verified && problem.checksum() == expected;
      }
    }
  return c;
}

namespace {

Measured const* find(Comparison const& c, std::string_view ending, Order order, Init init) {
  for (auto const& [cell, measured] : c.measured)
    if (cell.order == order && cell.init == init && cell.variant->name.ends_with(ending))
      return &measured;
  return nullptr;
}

std::string mean_and_spread(Measured const* m) {
  if (m == nullptr) return "absent";
  Statistics const s = statistics_of(m->rates);
  return fmt::format("{:.1f}+-{:.1f}{}", s.mean, s.deviation, m->verified ? "" : " WRONG");
}

std::string paper_table(Comparison const& c) {
  Table t;
  t.row({"", "tasking", "", "tasking + queues", ""});
  t.row({"submit order", "kji", "jki", "kji", "jki"});
  t.rule();
  for (Init const init : {Init::contiguous, Init::round_robin}) {
    std::vector<std::string> row{std::string(to_string(init)) + " init"};
    for (char const* variant : {"/tasks", "/tasks+queues"})
      for (Order const order : {Order::kji, Order::jki})
        row.push_back(mean_and_spread(find(c, variant, order, init)));
    t.row(row);
  }
  return t.text();
}

// Both inits' samples over those of worksharing static in the same repetition.
double against_static(Comparison const& c, std::string const& name, Order order) {
  std::vector<double> ratios;
  for (Init const init : {Init::contiguous, Init::round_robin}) {
    Measured const* mine = find(c, name, order, init);
    Measured const* reference = find(c, "/static", Order::kji, init);
    if (mine == nullptr || reference == nullptr) continue;
    for (std::size_t n = 0; n < std::min(mine->rates.size(), reference->rates.size()); ++n)
      ratios.push_back(mine->rates[n] / reference->rates[n]);
  }
  return median_of(ratios);
}

// Both inits' samples together.
double pooled_share(Comparison const& c, std::string const& name, Order order, Stores stores) {
  Measured both;
  for (Init const init : {Init::contiguous, Init::round_robin}) {
    Measured const* m = find(c, name, order, init);
    if (m == nullptr || m->copies.count(stores) == 0) continue;
    auto const& copies = m->copies.at(stores);
    both.rates.insert(both.rates.end(), m->rates.begin(), m->rates.end());
    both.copies[stores].insert(both.copies[stores].end(), copies.begin(), copies.end());
  }
  return share_of_limit(both, stores);
}

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

std::string remote(Measured const* m) {
  if (m == nullptr) return "-";
  if (m->blocks.local + m->blocks.remote == 0) return "unknown";
  return percent(m->blocks.remote_share());
}

std::string all_variants(Comparison const& c) {
  Table t;
  t.row({"variant", "order", "static init", "static,1 init", "vs static", "of 16 B limit",
         "of 24 B limit", "remote", "remote,1"});
  t.rule();
  for (Cell const& cell : c.cells) {
    if (cell.init != Init::contiguous) continue;
    std::string const& name = cell.variant->name;
    Measured const* first = find(c, name, cell.order, Init::contiguous);
    Measured const* second = find(c, name, cell.order, Init::round_robin);
    double const against = against_static(c, name, cell.order);
    auto const share = [&](Stores stores) {
      double const of_limit = pooled_share(c, name, cell.order, stores);
      return of_limit > 0 ? percent(of_limit) : "-";
    };
    t.row({name, cell.variant->by_tasks ? std::string(to_string(cell.order)) : "-",
           mean_and_spread(first), mean_and_spread(second),
           against > 0 ? fmt::format("{:.3f}", against) : "-", share(Stores::streaming),
           share(Stores::plain), remote(first), remote(second)});
  }
  for (Cell const& cell : c.cells)
    if (cell.init == Init::ld0) {
      Measured const& m = c.measured.at(cell);
      t.row(
          {cell.variant->name + ", LD0", "-", mean_and_spread(&m), "", "", "", "", remote(&m), ""});
    }
  for (jacobi3d::VariantInfo const& v : jacobi3d::variants())
    if (v.make == nullptr) t.row({v.name, "absent: " + v.why_absent});
  return t.text();
}

}  // namespace

std::string describe(Comparison const& c, JacobiOptions const& o) {
  std::string out = fmt::format(
      "Jacobi {}, blocks of {}, {} threads, {} kernel with {} stores, {} pages\n"
      "MLUP/s, mean +- standard deviation of {} samples of {} sweeps, all variants in turn\n\n",
      extent_text(o.grid), extent_text(o.block), o.team.threads(), o.kernel.isa,
      o.kernel.streaming ? "streaming" : "plain", o.huge_pages ? "huge" : "small", o.repetitions,
      o.sweeps);
  out += "OpenMP tasks, in the layout of Table 1 of Wittmann and Hager (2009)\n\n";
  out += paper_table(c) + '\n';
  out +=
      "All variants. vs static: median of the ratios to OpenMP worksharing static in the same\n"
      "repetition; of limit: median of the ratios to a copy right before (see below); remote: "
      "share of\n"
      "blocks run outside the domain that holds them\n\n";
  out += all_variants(c) + '\n';
  if (double const limit = c.limit(Stores::streaming); limit > 0)
    out += fmt::format(
        "limit at 16 B per update: {:.0f} MLUP/s (copy, streaming stores, {:.1f} GB/s)\n", limit,
        limit * 16e-3);
  double const plain = c.limit(Stores::plain);
  out += fmt::format("limit at 24 B per update: {:.0f} MLUP/s (copy, plain stores, {:.1f} GB/s)\n",
                     plain, plain * 24e-3);
  out +=
      "nigh/two-steps takes two time steps in one pass over memory and moves about half the bytes "
      "an update,\nnigh/temporal more steps and fewer bytes (nigh bench temporal); the limits are "
      "those of one step a pass,\nso they may exceed them.\n";
  bool const verified = std::all_of(c.measured.begin(), c.measured.end(),
                                    [](auto const& m) { return m.second.verified; });
  out += verified ? "Every field agrees with the serial reference, bit for bit (checksum).\n"
                  : "WRONG: a field differs from the serial reference.\n";
  return out;
}

std::vector<Result> results(Comparison const& c, JacobiOptions const& o) {
  auto const params = [&] {
    return std::map<std::string, Value>{{"grid", extent_text(o.grid)},
                                        {"block", extent_text(o.block)},
                                        {"threads", static_cast<long>(o.team.threads())},
                                        {"stores", o.kernel.streaming ? "streaming" : "plain"},
                                        {"isa", std::string(o.kernel.isa)},
                                        {"pages", o.huge_pages ? "huge" : "small"},
                                        {"sweeps", static_cast<long>(o.sweeps)}};
  };
  std::vector<Result> list;
  for (Stores const stores : {Stores::plain, Stores::streaming}) {
    Result r;
    r.bench = "jacobi3d";
    r.variant = stores == Stores::streaming ? "copy/streaming" : "copy/plain";
    r.params = {{"threads", static_cast<long>(o.team.threads())}};
    r.metric = "bandwidth";
    r.unit = "GB/s";
    for (Cell const& cell : c.cells) {
      auto const& copies = c.measured.at(cell).copies;
      if (auto const found = copies.find(stores); found != copies.end())
        for (double const rate : found->second) r.samples.push_back(rate * 16e-3);
    }
    if (r.samples.empty()) continue;
    r.counters = {{"bytes_counted_per_element", 16L}, {"limit_mlups", c.limit(stores)}};
    list.push_back(std::move(r));
  }
  for (Cell const& cell : c.cells) {
    Measured const& m = c.measured.at(cell);
    Result r;
    r.bench = "jacobi3d";
    r.variant = cell.variant->name;
    r.params = params();
    r.params["init"] = std::string(to_string(cell.init));
    if (cell.variant->by_tasks) r.params["order"] = std::string(to_string(cell.order));
    r.metric = "rate";
    r.unit = "MLUP/s";
    r.samples = m.rates;
    r.verified = m.verified;
    r.counters = {{"blocks_local", m.blocks.local},
                  {"blocks_remote", m.blocks.remote},
                  {"blocks_unknown", m.blocks.unknown},
                  {"remote_share", m.blocks.remote_share()},
                  {"share_of_24B_limit", share_of_limit(m, Stores::plain)}};
    if (m.copies.count(Stores::streaming) > 0)
      r.counters["share_of_16B_limit"] = share_of_limit(m, Stores::streaming);
    list.push_back(std::move(r));
  }
  for (jacobi3d::VariantInfo const& v : jacobi3d::variants()) {
    if (v.make != nullptr) continue;
    Result r;
    r.bench = "jacobi3d";
    r.variant = v.name;
    r.absent = v.why_absent;
    list.push_back(std::move(r));
  }
  return list;
}

}  // namespace bench
