// SPDX-License-Identifier: Apache-2.0
// nigh bench jacobi3d: the paper's 3D six-point Jacobi solver under every schedule it compares.
#include <CLI/CLI.hpp>

#include "bench/benchmark.hpp"
#include "bench/jacobi3d/block_study.hpp"
#include "bench/jacobi3d/compare.hpp"
#include "bench/jacobi3d/single.hpp"
#include "bench/options.hpp"

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
             app.add_option("--grid", f.grid, "interior sites, as 600x600x600 (default) or 600");
             app.add_option("--block", f.block, "sites in a block, as 600x10x10 (default)");
             app.add_option("--threads", f.threads,
                            "threads of each variant; default: one for each allowed cpu");
             app.add_option("--topology", f.topology, "run on these cpus only, as 0-2,5");
             app.add_option("--sweeps", f.sweeps, "sweeps in one sample; default 4");
             app.add_option("--stores", f.stores, "streaming (non-temporal) or plain");
             app.add_option("--isa", f.isa,
                            "kernel for baseline, avx2 or avx512; default: the widest there is");
             app.add_option("--pages", f.pages, "auto, small or huge");
             app.add_option("--pending-limit", f.pending_limit,
                            "tasks that may wait in nigh's queues before the submitter helps (the "
                            "paper: 256)");
             app.add_flag("--block-study", f.block_study, "vary the block size down to tiny tasks");
             app.add_option("--variant", f.variant, "run this one alone")
                 ->group("One variant alone");
             app.add_option("--init", f.init, "static, cyclic (\"static,1\") or ld0")
                 ->group("One variant alone");
             app.add_option("--order", f.order, "kji, jki or strips")->group("One variant alone");
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
