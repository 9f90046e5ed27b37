// SPDX-License-Identifier: Apache-2.0
// nigh bench jacobi3d: the paper's 3D six-point Jacobi solver under every schedule it compares.

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nigh/locality_mark.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "bench/benchmark.hpp"
#include "bench/jacobi3d/compare.hpp"
#include "bench/jacobi3d/problem.hpp"
#include "bench/options.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "platform/progress.hpp"

namespace bench {

namespace {

// One fact a line, first word its name: easy to read for people and for scripts.
void print_report(Problem const& problem, BlockCounts const& blocks) {
  nigh::page_report const pages = problem.pages();
  fmt::print("pages_of_domain {}\n", fmt::join(pages.pages_of_domain, " "));
  fmt::print("pages_untouched {}\n", pages.untouched);
  if (!pages.note.empty()) fmt::print("pages_note {}\n", pages.note);
  fmt::print("blocks_local {}\nblocks_remote {}\nblocks_unknown {}\n", blocks.local, blocks.remote,
             blocks.unknown);
  fmt::print("remote_share {:.4f}\n", blocks.remote_share());
}

}  // namespace

void run_single(JacobiOptions const& o, bool report) {
  PinnedThreads pinned(o.team.cpus);
  Problem problem(o, o.init, pinned);
  problem.submit_in(o.order);
  problem.run_reference(o.sweeps);
  auto const expected = problem.checksum();
  problem.refill();

  auto const variant = o.variant->make(o.team);
  std::size_t const bytes = problem.elements() * sizeof(double);
  NIGH_METER_RANGE(0, problem.first(), bytes);
  NIGH_METER_RANGE(1, problem.second(), bytes);
  NIGH_METER_START();
  double const seconds = problem.run(*variant, o.kernel, o.sweeps);
  NIGH_METER_STOP(1);
  bool const verified = problem.checksum() == expected;

  double const updates = static_cast<double>(o.grid.sites()) * o.sweeps;
  fmt::print("variant {}\ninit {}\norder {}\nthreads {}\n", o.variant->name, to_string(o.init),
             to_string(o.order), o.team.threads());
  fmt::print("grid {}x{}x{}\nblock {}x{}x{}\nkernel {} {}\nsweeps {}\n", o.grid.i, o.grid.j,
             o.grid.k, o.block.i, o.block.j, o.block.k, o.kernel.isa,
             o.kernel.streaming ? "streaming" : "plain", o.sweeps);
  fmt::print("rate {:.1f} MLUP/s\nverified {}\n", updates / seconds / 1e6, verified ? "yes" : "no");
  if (report) print_report(problem, problem.blocks_run());
  if (!verified) throw std::runtime_error("the field differs from the serial reference");
}

namespace {

using jacobi3d::Extent;
using jacobi3d::VariantInfo;

// From the block asked for down to a few cache lines of one row.
std::vector<Extent> shapes(JacobiOptions const& o) {
  std::vector<Extent> list{o.block};
  auto const add = [&](Extent e) {
    e = {std::min(e.i, o.grid.i), std::min(e.j, o.grid.j), std::min(e.k, o.grid.k)};
    if (e.sites() < list.back().sites()) list.push_back(e);
  };
  for (std::ptrdiff_t const side : {5, 2, 1}) add({o.block.i, side, side});
  for (std::ptrdiff_t const length : {200, 80, 40}) add({length, 1, 1});
  return list;
}

std::vector<VariantInfo const*> studied() {
  std::vector<VariantInfo const*> list;
  for (char const* name :
       {"openmp/static", "openmp/tasks", "openmp/tasks+queues", "tbb/blocks", "nigh/queues"}) {
    VariantInfo const* v = jacobi3d::find_variant(name);
    if (v != nullptr && v->make != nullptr) list.push_back(v);
  }
  return list;
}

}  // namespace

BlockStudy study_blocks(JacobiOptions const& base) {
  auto const list = studied();
  auto const sizes = shapes(base);
  PinnedThreads pinned(base.team.cpus);
  std::map<VariantInfo const*, std::unique_ptr<jacobi3d::Variant>> alive;
  for (VariantInfo const* v : list) alive[v] = v->make(base.team);
  nigh::platform::Progress progress(static_cast<int>(sizes.size() * list.size()) *
                                    base.repetitions);

  BlockStudy study;
  double const sites = static_cast<double>(base.grid.sites());
  for (Extent const& size : sizes) {
    JacobiOptions o = base;
    o.team.machine = &o.machine;
    o.block = size;
    Problem problem(o, jacobi3d::Init::contiguous, pinned);
    problem.run_reference(1);
    auto const expected = problem.checksum();
    std::vector<StudyPoint> points;
    for (VariantInfo const* v : list)
      points.push_back({v, size, problem.plan().blocks.size(), {}, {}, true});
    for (int repetition = 0; repetition < o.repetitions; ++repetition) {
      double plain_seconds = 0;  // of the first variant, whose loop costs nothing a block
      for (StudyPoint& p : points) {
        progress.step(extent_text(size) + " " + p.variant->name);
        problem.refill();
        double const seconds = problem.run(*alive[p.variant], o.kernel, 1, false);
        p.rates.push_back(sites / seconds / 1e6);
        p.verified = p.verified && problem.checksum() == expected;
        if (p.variant == list.front()) plain_seconds = seconds;
        p.overhead_ns.push_back((seconds - plain_seconds) * o.team.threads() / p.blocks * 1e9);
      }
    }
    study.points.insert(study.points.end(), points.begin(), points.end());
  }
  return study;
}

std::string describe(BlockStudy const& study, JacobiOptions const& o) {
  std::string out = fmt::format(
      "Jacobi {}, {} threads, {} kernel with {} stores: how small may a task be?\n"
      "MLUP/s, median of {} samples; in brackets: thread time a block takes beyond {}, ns\n\n",
      extent_text(o.grid), o.team.threads(), o.kernel.isa,
      o.kernel.streaming ? "streaming" : "plain", o.repetitions,
      study.points.front().variant->name);
  Table t;
  std::vector<std::string> head{"block", "blocks"};
  auto const variants = studied();
  for (VariantInfo const* v : variants) head.push_back(v->name);
  t.row(head);
  t.rule();
  for (std::size_t first = 0; first < study.points.size(); first += variants.size()) {
    StudyPoint const& p = study.points[first];
    std::vector<std::string> row{extent_text(p.block), std::to_string(p.blocks)};
    for (std::size_t n = first; n < first + variants.size(); ++n) {
      StudyPoint const& q = study.points[n];
      std::string cell = fmt::format("{:.0f}", median_of(q.rates));
      if (n > first) cell += fmt::format(" [{:.0f}]", median_of(q.overhead_ns));
      row.push_back(cell + (q.verified ? "" : " WRONG"));
    }
    t.row(row);
  }
  return out + t.text();
}

std::vector<Result> results(BlockStudy const& study, JacobiOptions const& o) {
  std::vector<Result> list;
  for (StudyPoint const& p : study.points) {
    Result r;
    r.bench = "jacobi3d/block-study";
    r.variant = p.variant->name;
    r.params = {{"grid", extent_text(o.grid)},
                {"block", extent_text(p.block)},
                {"blocks", static_cast<long>(p.blocks)},
                {"sites_per_block", static_cast<long>(p.block.sites())},
                {"threads", static_cast<long>(o.team.threads())},
                {"stores", o.kernel.streaming ? "streaming" : "plain"},
                {"isa", std::string(o.kernel.isa)}};
    r.metric = "rate";
    r.unit = "MLUP/s";
    r.samples = p.rates;
    r.verified = p.verified;
    r.counters = {{"overhead_ns_per_block", median_of(p.overhead_ns)}};
    list.push_back(std::move(r));
  }
  return list;
}

}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  JacobiFlags f;
  std::unique_ptr<JacobiOptions> o;
  return run_benchmark(
      {.name = "jacobi3d",
       .measures = "3D six-point Jacobi solver under every schedule of Wittmann and Hager (2009)",
       .wrong = "a field differs from the serial reference",
       .samples = "each variant; default 7",
       .quick = "a small grid and few samples",
       .options =
           [&](CLI::App& app) {
             app.add_option("--grid", f.grid, "interior sites, as 600x600x600 (default) or 600")
                 ->type_name("SIZE");
             app.add_option("--block", f.block, "sites in a block, as 600x10x10 (default)")
                 ->type_name("SIZE");
             app.add_option("--threads", f.threads,
                            "threads of each variant; default: one for each allowed cpu");
             app.add_option("--topology", f.topology, "run on these cpus only, as 0-2,5")
                 ->type_name("CPUS");
             app.add_option("--sweeps", f.sweeps, "sweeps in one sample; default 4");
             app.add_option("--stores", f.stores, "streaming (non-temporal) or plain")
                 ->type_name("HOW");
             app.add_option("--isa", f.isa,
                            "kernel for baseline, avx2 or avx512; default: the widest there is")
                 ->type_name("NAME");
             app.add_option("--pages", f.pages, "auto, small or huge")->type_name("HOW");
             app.add_option("--pending-limit", f.pending_limit,
                            "tasks that may wait in nigh's queues before the submitter helps (the "
                            "paper: 256)");
             app.add_flag("--block-study", f.block_study, "vary the block size down to tiny tasks");
             app.add_option("--variant", f.variant, "run this one alone")
                 ->type_name("NAME")
                 ->group("One variant alone");
             app.add_option("--init", f.init, "static, cyclic (\"static,1\") or ld0")
                 ->type_name("HOW")
                 ->group("One variant alone");
             app.add_option("--order", f.order, "kji, jki or strips")
                 ->type_name("HOW")
                 ->group("One variant alone");
             app.add_flag("--report", f.report, "where pages and blocks were")
                 ->group("One variant alone");
           },
       .list = [] { list_variants(jacobi3d::variants()); },
       .plan = [&]() -> Plan {
         o = check(f);
         if (o->variant != nullptr) return {.instead = [&] { run_single(*o, f.report); }};
         Plan plan{&o->machine};
         if (f.block_study)
           plan.parts.push_back([&] { return findings(study_blocks(*o), *o); });
         else
           plan.parts.push_back([&] { return findings(compare(*o), *o); });
         return plan;
       }},
      f, argc, argv);
}
