// SPDX-License-Identifier: Apache-2.0
#include "sim/mg/study.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace nigh::sim {

double MgStudy::mean_speedup(MgCurve const& curve) const {
  double sum = 0;
  for (std::size_t i = 0; i < threads.size(); ++i) sum += speedup(curve, i);
  return sum / static_cast<double>(threads.size());
}

MgCurve const* MgStudy::find(Framework framework, bool dynamic, cpu_order order,
                             MgPages pages) const {
  auto const found = std::find_if(curves.begin(), curves.end(), [&](MgCurve const& c) {
    return c.what.framework == framework && c.what.dynamic == dynamic && c.what.order == order &&
           c.what.pages == pages;
  });
  return found == curves.end() ? nullptr : &*found;
}

std::vector<int> mg_thread_counts(Machine const& machine) {
  int const all = static_cast<int>(machine.shape.cores());
  int const step = all <= 32 ? 2 : (all + 15) / 16;
  std::vector<int> counts{1, all};
  for (int n = step; n < all; n += step) counts.push_back(n);
  for (auto const& package : machine.shape.groups(level::package))
    counts.push_back(std::min(static_cast<int>(package.size()), all));
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

std::vector<MgCase> mg_cases(Machine const& machine, MgClass const& size) {
  bool const has_memory_apart =
      static_cast<int>(machine.shape.domains().size()) > machine.shape.cpu_domains();
  std::vector<MgCase> cases;
  using enum Framework;
  for (auto [framework, dynamic] :
       {std::pair{openmp, false}, std::pair{openmp, true}, std::pair{cilk, true},
        std::pair{fastflow, false}, std::pair{fastflow, true}})
    for (auto const order : {cpu_order::compact, cpu_order::scatter})
      for (auto const pages : {MgPages::first_touch, MgPages::interleaved, MgPages::everywhere}) {
        if (pages == MgPages::everywhere && !has_memory_apart) continue;
        MgCase one;
        one.framework = framework;
        one.dynamic = dynamic;
        one.order = order;
        one.pages = pages;
        one.finest = size.finest;
        one.iterations = size.iterations;
        cases.push_back(one);
      }
  return cases;
}

MgStudy study_mg(Machine const& machine, std::vector<MgCase> const& cases,
                 std::vector<int> const& threads, std::uint64_t seed) {
  MgStudy study{threads, {}};
  for (MgCase what : cases) {
    MgCurve curve{what, {}, {}};
    for (int const n : threads) {
      what.threads = n;
      curve.outcomes.push_back(run_mg(machine, what, seed));
      curve.seconds.push_back(curve.outcomes.back().iteration_s * what.iterations);
    }
    curve.what.threads = threads.back();
    study.curves.push_back(std::move(curve));
  }
  return study;
}

std::string name_of(MgCase const& what) {
  std::string name(framework_names[static_cast<std::size_t>(what.framework)]);
  return what.framework == Framework::cilk ? name : name + (what.dynamic ? "/dynamic" : "/static");
}
std::string_view name_of(cpu_order order) {
  return order == cpu_order::compact ? "compact" : "scatter";
}
std::string_view name_of(MgPages pages) {
  return pages == MgPages::first_touch   ? "first touch"
         : pages == MgPages::interleaved ? "interleave"
                                         : "interleave all";
}

}  // namespace nigh::sim
