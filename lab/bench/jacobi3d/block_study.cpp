// SPDX-License-Identifier: Apache-2.0
#include "bench/jacobi3d/block_study.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "bench/progress.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {

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

std::string text(Extent const& e) { return fmt::format("{}x{}x{}", e.i, e.j, e.k); }

}  // namespace

BlockStudy study_blocks(JacobiOptions const& base) {
  auto const list = studied();
  auto const sizes = shapes(base);
  Crew crew(base.team.cpus);
  std::map<VariantInfo const*, std::unique_ptr<jacobi3d::Variant>> alive;
  for (VariantInfo const* v : list) alive[v] = v->make(base.team);
  Progress progress(static_cast<int>(sizes.size() * list.size()) * base.repetitions);

  BlockStudy study;
  double const sites = static_cast<double>(base.grid.sites());
  for (Extent const& size : sizes) {
    JacobiOptions o = base;
    o.team.machine = &o.machine;
    o.block = size;
    Problem problem(o, jacobi3d::Init::contiguous, crew);
    problem.run_reference(1);
    auto const expected = problem.checksum();
    std::vector<StudyPoint> points;
    for (VariantInfo const* v : list)
      points.push_back({v, size, problem.plan().blocks.size(), {}, {}, true});
    for (int repetition = 0; repetition < o.repetitions; ++repetition) {
      double plain_seconds = 0;  // of the first variant, whose loop costs nothing a block
      for (StudyPoint& p : points) {
        progress.step(text(size) + " " + p.variant->name);
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
      text(o.grid), o.team.threads(), o.kernel.isa, o.kernel.streaming ? "streaming" : "plain",
      o.repetitions, study.points.front().variant->name);
  Table t;
  std::vector<std::string> head{"block", "blocks"};
  auto const variants = studied();
  for (VariantInfo const* v : variants) head.push_back(v->name);
  t.row(head);
  t.rule();
  for (std::size_t first = 0; first < study.points.size(); first += variants.size()) {
    StudyPoint const& p = study.points[first];
    std::vector<std::string> row{text(p.block), std::to_string(p.blocks)};
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
    r.params = {{"grid", text(o.grid)},
                {"block", text(p.block)},
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
