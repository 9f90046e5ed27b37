// SPDX-License-Identifier: Apache-2.0
#include "sim/spread/study.hpp"

#include <algorithm>
#include <cstddef>

#include "policy/spread/spread_space.hpp"
#include "sim/random.hpp"
#include "sim/spread/core_caches.hpp"

namespace nigh::sim {

namespace {

using policy::SpreadConfig;

int cores_of_a_domain(Machine const& machine) {
  auto const caches = CoreCaches::of(machine.shape);
  std::size_t least = caches.cache_of.front().size();
  for (auto const& cores : caches.cache_of) least = std::min(least, cores.size());
  return static_cast<int>(least);
}

SpreadCell const& at(SpreadRow const& row, SpreadConfig const& config) {
  return *std::find_if(row.cells.begin(), row.cells.end(),
                       [&](SpreadCell const& c) { return c.config == config; });
}

// About normal, deviation 1.
double normal(Random& random) {
  return 2 * (random.uniform() + random.uniform() + random.uniform() - 1.5);
}

ChoiceScore choose(SpreadRow const& row, policy::SpreadSpace const& space,
                   SpreadStudy const& study) {
  ChoiceScore score;
  score.runs = study.choices;
  double best = row.one().times.iteration_s;
  for (auto const& c : row.cells) best = std::min(best, c.times.iteration_s);
  std::vector<double> trials, above;
  std::vector<int> chosen(row.cells.size(), 0);
  for (int run = 0; run < study.choices; ++run) {
    Random random(study.seed + static_cast<std::uint64_t>(run));
    policy::SpreadChoice choice(space, row.one().config);
    while (!choice.is_holding())
      choice.took(at(row, choice.next()).times.iteration_s * (1 + study.noise * normal(random)));
    auto const& held = at(row, choice.held());
    double const s = held.times.iteration_s;
    ++chosen[static_cast<std::size_t>(&held - row.cells.data())];
    above.push_back(s / best - 1);
    trials.push_back(choice.trials());
    score.near_best += s <= 1.05 * best;
    score.worse_than_usual += s > 1.02 * row.one().times.iteration_s;
    score.most_trials = std::max(score.most_trials, choice.trials());
  }
  auto const median = [](std::vector<double>& all) {
    auto const middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
  };
  score.median_trials = median(trials);
  score.median_above_best = median(above);
  score.most_common =
      row.cells[static_cast<std::size_t>(std::max_element(chosen.begin(), chosen.end()) -
                                         chosen.begin())]
          .config;
  return score;
}

}  // namespace

SpreadCell const& SpreadRow::best() const noexcept {
  return *std::min_element(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(all_workers),
                           [](SpreadCell const& a, SpreadCell const& b) {
                             return a.times.iteration_s < b.times.iteration_s;
                           });
}

SpreadRow study_block_size(Machine const& machine, SpreadStudy const& study, int edge) {
  int const domains = machine.shape.cpu_domains(), cores = cores_of_a_domain(machine);
  policy::SpreadSpace space;
  space.spreads = policy::spreads_to_try(domains, cores);
  space.actives = {domains * cores};
  if (study.choices > 0 && cores > 1)
    space.actives.insert(space.actives.begin(), domains * (cores / 2));
  space.grains = {edge};
  SpreadRow row;
  row.edge = edge;
  for (auto active = space.actives.rbegin(); active != space.actives.rend(); ++active) {
    for (int spread : space.spreads) {
      if (spread > *active) continue;
      auto loop = study.loop;
      loop.edge = edge;
      loop.spread = spread;
      loop.active = *active / domains;
      row.cells.push_back({{edge, spread, *active}, simulate_blocks(machine, loop, study.seed)});
    }
    if (row.all_workers == 0) row.all_workers = row.cells.size();
  }
  if (study.choices > 0) row.choice = choose(row, space, study);
  return row;
}

}  // namespace nigh::sim
