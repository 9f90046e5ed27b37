// SPDX-License-Identifier: Apache-2.0
#include "tune/standings.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <utility>

namespace nigh::tune {
namespace {

constexpr int draws = 1000;

// Relative deviations from the undisturbed cost, as logarithms, of all candidates that ran twice or
// more. Few of them say little, so they are joined by assumed ones: 3% as a rule, and now and then
// 20% for other load. A quiet machine's real ones soon outnumber these.
std::vector<double> deviations(std::span<Measured const> measured) {
  std::vector<double> all{-0.05, -0.03, -0.02, -0.01, 0.01, 0.02, 0.03, 0.05, 0.2};
  for (auto const& m : measured) {
    if (m.failed || m.costs.size() < 2) continue;
    auto const n = static_cast<double>(m.costs.size());
    auto const wider = std::sqrt(n / (n - 1));  // it is near its own samples
    auto const centre = undisturbed(m.costs);
    for (double const c : m.costs) all.push_back(wider * std::log(c / centre));
  }
  return all;
}

// Draws a possible error of a cost from so many runs.
class Error {
 public:
  Error(std::span<Measured const> measured, std::uint64_t seed)
      : pool_(deviations(measured)), random_(seed) {}

  double of(std::size_t runs) {
    drawn_.clear();
    for (std::size_t i = 0; i < runs; ++i) drawn_.push_back(pool_[random_() % pool_.size()]);
    return undisturbed(drawn_);
  }

 private:
  std::vector<double> pool_, drawn_;
  std::mt19937_64 random_;
};

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  auto const n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double undisturbed(std::vector<double> costs) {
  if (costs.empty()) return 0;
  std::sort(costs.begin(), costs.end());
  auto const at = static_cast<double>(costs.size() - 1) / 8;
  auto const below = static_cast<std::size_t>(at);
  auto const above = std::min(below + 1, costs.size() - 1);
  return costs[below] + (at - std::floor(at)) * (costs[above] - costs[below]);
}

std::vector<Standing> standings(std::span<Measured const> measured, std::uint64_t seed) {
  std::vector<Standing> table;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    auto const& m = measured[i];
    if (!m.known()) continue;
    auto const cost = undisturbed(m.costs);
    table.push_back({static_cast<int>(i), cost, cost, cost, 0, static_cast<int>(m.costs.size())});
  }
  std::vector<std::vector<double>> drawn(table.size());
  Error error(measured, seed);
  for (int d = 0; d < draws && !table.empty(); ++d) {
    std::size_t best = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
      auto const runs = static_cast<std::size_t>(table[i].runs);
      drawn[i].push_back(table[i].cost * std::exp(-error.of(runs)));
      if (drawn[i].back() < drawn[best].back()) best = i;
    }
    ++table[best].chance;
  }
  for (std::size_t i = 0; i < table.size(); ++i) {
    std::sort(drawn[i].begin(), drawn[i].end());
    table[i].chance /= draws;
    table[i].low = drawn[i][draws / 40];
    table[i].high = drawn[i][draws - 1 - draws / 40];
  }
  auto const place = [&](Standing const& s) {
    return std::pair(measured[static_cast<std::size_t>(s.candidate)].lost, s.cost);
  };
  std::stable_sort(table.begin(), table.end(),
                   [&](Standing const& a, Standing const& b) { return place(a) < place(b); });
  return table;
}

double chance_below(std::span<Measured const> measured, int a, int b, std::uint64_t seed) {
  auto const& first = measured[static_cast<std::size_t>(a)].costs;
  auto const& second = measured[static_cast<std::size_t>(b)].costs;
  auto const gap = std::log(undisturbed(second) / undisturbed(first));
  Error error(measured, seed);
  int below = 0;
  for (int d = 0; d < draws; ++d)
    if (error.of(second.size()) - error.of(first.size()) < gap) ++below;
  return static_cast<double>(below) / draws;
}

double chance_of_gain(std::span<Measured const> measured, int leader, std::uint64_t seed) {
  auto const& first = measured.front().costs;
  auto const gap =
      std::log(undisturbed(first) / undisturbed(measured[static_cast<std::size_t>(leader)].costs));
  std::vector<std::size_t> runs;  // of all that might have led
  for (auto const& m : measured.subspan(1))
    if (m.known() && !m.lost) runs.push_back(m.costs.size());
  Error error(measured, seed);
  int real = 0;
  for (int d = 0; d < draws; ++d) {
    double luckiest = std::numeric_limits<double>::max();
    for (auto const n : runs) luckiest = std::min(luckiest, error.of(n));
    if (error.of(first.size()) - luckiest < gap) ++real;
  }
  return static_cast<double>(real) / draws;
}

}  // namespace nigh::tune
