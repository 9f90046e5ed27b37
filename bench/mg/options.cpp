// SPDX-License-Identifier: Apache-2.0
#include "bench/mg/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "bench/command.hpp"

namespace bench {

namespace {

int number_from(std::string const& argument, std::string const& word) {
  int value = 0;
  auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size())
    throw UsageError(argument + ": \"" + word + "\" is not a number");
  return value;
}

// 1, 2, 4, ... and all of them.
std::vector<int> doubling_to(int most) {
  std::vector<int> list;
  for (int t = 1; t < most; t *= 2) list.push_back(t);
  list.push_back(most);
  return list;
}

template <class T, class Parse>
std::vector<T> each(std::string const& argument, std::string const& list, Parse const& parse) {
  std::vector<T> values;
  for (std::string const& word : words_of(argument, list)) {
    T const value = parse(argument, word);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

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
  nigh::result<nigh::topology> live = nigh::topology::live();
  if (!live) throw std::runtime_error(live.message());
  MgOptions o(std::move(live).value());

  std::string const classes = !f.classes.empty() ? f.classes : f.quick ? "S" : "W,A,B";
  o.classes = each<npb_mg::Class const*>(
      "--classes", classes,
      [](auto const& argument, auto const& word) { return &class_from(argument, word); });
  auto const allowed = static_cast<int>(o.machine.cpus().size());
  o.threads = doubling_to(allowed);
  if (!f.threads.empty()) o.threads = each<int>("--threads", f.threads, number_from);
  for (int const t : o.threads) cpus_for(t, o.machine);
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
  if (f.repetitions < 0 || f.repetitions > 1'000'000)
    throw UsageError("--repetitions: " + std::to_string(f.repetitions) +
                     " is not a number from 1 to 1000000");
  o.repetitions = f.repetitions > 0 ? static_cast<int>(f.repetitions) : f.quick ? 2 : 5;
  o.huge_pages = f.huge_pages;
  return o;
}

}  // namespace bench
