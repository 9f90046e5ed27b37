// SPDX-License-Identifier: Apache-2.0
#include "bench/mg/options.hpp"

#include <CLI/CLI.hpp>

#include "bench/command.hpp"
#include "bench/options.hpp"

namespace bench {

namespace {

// One domain's cpus are the same in either order, and its memory is all there is.
void leave_out_what_cannot_matter(MgOptions& o) {
  if (o.machine.domains().size() > 1) return;
  if (o.binds.size() > 1) {
    o.binds = {Bind::compact};
    o.left_out.push_back("--bind scatter: one domain, so compact puts threads on the same cpus");
  }
  if (o.mems.size() > 1) {
    o.mems = {Mem::first_touch};
    o.left_out.push_back("--mem interleave: one domain, so all pages lie there anyway");
  }
}

}  // namespace

void MgFlags::declare(CLI::App& app) {
  app.add_option("--classes", classes, "of S,W,A,B,C,D; default W,A,B");
  app.add_option("--threads", threads, "as 1,2; default 1, 2, 4, ... and all allowed cpus");
  app.add_option("--variants", variants, "as openmp/static,nigh/fused; default: all");
  app.add_option("--bind", bind, "compact, scatter or both as compact,scatter (default)");
  app.add_option("--mem", mem, "first-touch, interleave or both (default)");
  app.add_option("--reps,--repetitions", repetitions, "samples of each; default 5");
  app.add_option("--isa", isa, "operators for baseline, avx2 or avx512; default: the widest");
  app.add_flag("--huge-pages", huge_pages, "ask for transparent huge pages");
  app.add_flag("--quick", quick, "class S and few samples: does it work?");
  app.add_option("--json", json, "write results as JSON lines to this file, - for standard output");
  app.add_option("--plot", plot, "draw the results, FILE.svg or FILE.png");
  app.add_flag("--list", list, "name the variants and leave");
}

MgOptions check(MgFlags const& f) {
  MgOptions o(live_machine());

  std::string const classes = !f.classes.empty() ? f.classes : f.quick ? "S" : "W,A,B";
  o.classes = each<npb_mg::Class const*>(
      "--classes", classes,
      [](auto const& argument, auto const& word) { return &class_from(argument, word); });
  auto const allowed = static_cast<int>(o.machine.cpus().size());
  o.threads = doubling_to(allowed);
  if (!f.threads.empty()) o.threads = numbers("--threads", f.threads, allowed);
  if (f.variants.empty())
    for (npb_mg::VariantInfo const& v : npb_mg::variants()) {
      if (!v.name.ends_with("/runtime")) o.variants.push_back(&v);  // which is static or dynamic
    }
  else
    o.variants = each<npb_mg::VariantInfo const*>(
        "--variants", f.variants,
        [](auto const& argument, auto const& word) { return &variant_from(argument, word); });
  o.binds = each<Bind>("--bind", f.bind.empty() ? "compact,scatter" : f.bind, bind_from);
  o.mems = each<Mem>("--mem", f.mem.empty() ? "first-touch,interleave" : f.mem, mem_from);
  leave_out_what_cannot_matter(o);
  o.kernel = &kernel_from("--isa", f.isa);
  o.repetitions =
      static_cast<int>(number_or("--repetitions", f.repetitions, f.quick ? 2 : 5, 1'000'000));
  o.huge_pages = f.huge_pages;
  return o;
}

}  // namespace bench
