// SPDX-License-Identifier: Apache-2.0
// nigh bench spread: how many threads on one block, how many blocks.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/benchmark.hpp"
#include "bench/options.hpp"
#include "bench/spread/study.hpp"

namespace bench {
namespace {

struct SpreadFlags : Flags {
  std::string blocks, spreads, active, rows, sends, variants, cache_points, isa;
  double memory = 0.05;
  int iterations = 5, cache_steps = 8;
  std::optional<long> threads;
  bool grid = false, cache = false, programs = false;
};

std::vector<bool> sends_from(std::string const& list) {
  return each<bool>("--sends", list, [](std::string const& argument, std::string const& word) {
    if (word != "early" && word != "none") refuse(argument, word, "is not early or none");
    return word == "early";
  });
}

std::size_t largest_cache(nigh::topology_object const& o, std::string_view name) {
  std::size_t largest = o.type == nigh::topology_object::kind::cache && o.name.starts_with(name)
                            ? static_cast<std::size_t>(o.size_bytes)
                            : 0;
  for (auto const& child : o.children) largest = std::max(largest, largest_cache(child, name));
  return largest;
}

// Half of the second cache to twice the third, in steps of the root of two.
std::vector<int> points_around_caches(SpreadOptions const& o) {
  std::vector<int> points;
  auto const least = static_cast<double>(o.l2_bytes) / 2;
  auto const most = 2.01 * static_cast<double>(o.l3_bytes);
  for (double bytes = least; bytes <= most; bytes *= std::sqrt(2.0))
    points.push_back(static_cast<int>(std::sqrt(bytes / (2 * sizeof(double)))));
  return points;
}

void make_grid_problems(SpreadFlags const& f, SpreadOptions& o) {
  for (bool const sends : sends_from(f.sends.empty() ? "early,none" : f.sends))
    for (int const blocks : numbers("--blocks",
                                    !f.blocks.empty() ? f.blocks
                                    : f.quick         ? "1,4"
                                                      : "1,6,12,24,48,96",
                                    10'000)) {
      int const points = f.quick ? std::max(1, 96 / blocks)
                                 : points_of_share("--memory", f.memory, o.machine, blocks);
      o.grid.push_back({.blocks = blocks,
                        .points = points,
                        .iterations = f.quick ? 2 : f.iterations,
                        .steps = 1,
                        .sends = sends});
    }
}

void make_cache_problems(SpreadFlags const& f, SpreadOptions& o) {
  constexpr double updates_of_a_sample = 1e8;
  std::vector<int> points;
  if (!f.cache_points.empty())
    points = numbers("--cache-points", f.cache_points, 20'000);
  else if (f.quick)
    points = {24, 48};
  else if (o.l2_bytes > 0 && o.l3_bytes > 0)
    points = points_around_caches(o);
  else
    o.left_out.push_back("blocks around the caches' sizes: these are not known here");
  for (int const n : points) {
    jacobi2d::Problem p{
        .blocks = 4, .points = n, .iterations = 1, .steps = f.cache_steps, .sends = false};
    if (!f.quick) p.iterations = std::max(1, static_cast<int>(updates_of_a_sample / p.updates()));
    o.cache.push_back(p);
  }
}

SpreadOptions check(SpreadFlags const& f) {
  SpreadOptions o(live_machine());
  o.l2_bytes = largest_cache(o.machine.root(), "L2");
  o.l3_bytes = largest_cache(o.machine.root(), "L3");

  auto const allowed = static_cast<long>(o.machine.cpus().size());
  o.threads = static_cast<int>(cpus_for(f.threads.value_or(allowed), o.machine).size());
  auto const sharers = [&](nigh::level cache) {
    return std::min(o.threads, static_cast<int>(o.machine.groups(cache).front().size()));
  };
  o.l3_sharers = sharers(nigh::level::l3);
  o.l2_caches = (o.threads + sharers(nigh::level::l2) - 1) / sharers(nigh::level::l2);
  o.spreads =
      f.spreads.empty() ? doubling_to(o.threads) : numbers("--spreads", f.spreads, o.threads);
  o.actives = f.active.empty() ? doubling_to(o.threads) : numbers("--active", f.active, o.threads);
  o.rows = each<jacobi2d::RowSchedule>("--rows",
                                       !f.rows.empty() ? f.rows
                                       : f.quick       ? "default,collapse"
                                                       : "default,1,16,512,collapse",
                                       rows_from);
  if (f.variants.empty())
    for (jacobi2d::VariantInfo const& v : jacobi2d::variants()) {
      if (v.name != "serial") o.variants.push_back(&v);
    }
  else
    o.variants = each<jacobi2d::VariantInfo const*>("--variants", f.variants,
                                                    [](auto const& argument, auto const& word) {
                                                      return &jacobi2d_variant_from(argument, word);
                                                    });
  o.kernel = &jacobi2d_kernel_from("--isa", f.isa);
  in_range("--iterations", f.iterations, 1, 1'000'000);
  in_range("--cache-steps", f.cache_steps, 1, 1000);
  o.repetitions =
      static_cast<int>(number_or("--repetitions", f.repetitions, f.quick ? 2 : 5, 1'000'000));
  bool const all = !f.grid && !f.cache && !f.programs;
  if (f.grid || all) make_grid_problems(f, o);
  if (f.cache || all) make_cache_problems(f, o);
  o.programs = f.programs || all;
  o.quick = f.quick;
  return o;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  SpreadFlags f;
  std::optional<SpreadOptions> o;
  return run_benchmark(
      {.name = "spread",
       .measures = "a stencil on a grid of blocks: how many threads on one block, how many blocks",
       .wrong = "a field is not the serial one's",
       .samples = "each; default 5",
       .quick = "small squares and few samples",
       .options =
           [&](CLI::App& app) {
             app.add_flag("--grid", f.grid, "only block size by spread on one large square");
             app.add_flag("--cache", f.cache, "only blocks around the caches' sizes");
             app.add_flag("--programs", f.programs,
                          "only the task loops of jacobi3d, npb-mg and sparselu");
             app.add_option("--blocks", f.blocks,
                            "along each side, as 1,24; default 1,6,12,24,48,96")
                 ->type_name("LIST");
             app.add_option("--memory", f.memory,
                            "share of the machine's memory for the fields; default 0.05");
             app.add_option("--sends", f.sends, "early, none or both (default)")->type_name("LIST");
             app.add_option("--spreads", f.spreads, "as 1,2; default 1, 2, 4, ... and all threads")
                 ->type_name("LIST");
             app.add_option("--active", f.active, "threads at work at once, likewise")
                 ->type_name("LIST");
             app.add_option("--rows", f.rows, "of openmp/rows; default: default,1,16,512,collapse")
                 ->type_name("LIST");
             app.add_option("--iterations", f.iterations, "of a sample; default 5");
             app.add_option("--cache-points", f.cache_points,
                            "sides of the blocks of --cache, as 256,1024")
                 ->type_name("LIST");
             app.add_option("--cache-steps", f.cache_steps, "their time steps a visit; default 8");
             app.add_option("--variants", f.variants,
                            "as openmp/rows,nigh/spread; default: all but serial")
                 ->type_name("LIST");
             app.add_option("--threads", f.threads, "default: one for each allowed cpu");
             app.add_option("--isa", f.isa,
                            "kernel for baseline, avx2 or avx512; default: the widest")
                 ->type_name("NAME");
           },
       .list = [] { list_variants(jacobi2d::variants()); },
       .plan = [&]() -> Plan {
         o = check(f);
         return {&o->machine,
                 {[&] { return findings(study(*o), *o); },
                  [&] { return findings(study_programs(*o), *o); }}};
       }},
      f, argc, argv);
}
