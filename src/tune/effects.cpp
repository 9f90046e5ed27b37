// SPDX-License-Identifier: Apache-2.0
#include "tune/effects.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "tune/standings.hpp"

namespace nigh::tune {
namespace {

std::size_t at(int value) { return static_cast<std::size_t>(value); }

}  // namespace

Effects::Effects(std::span<Candidate const> candidates, std::span<Measured const> measured) {
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < measured.size(); ++i)
    if (measured[i].known()) known.push_back(i);
  auto const options = candidates.empty() ? 0 : candidates.front().size();
  effect_.resize(options);
  for (auto const& c : candidates)
    for (std::size_t o = 0; o < options; ++o)
      effect_[o].resize(std::max(effect_[o].size(), at(c[o]) + 1));
  constexpr double assumed = 0.1;
  doubt_ = assumed;
  if (known.empty()) return;
  std::vector<double> y(measured.size());
  for (auto const i : known) mean_ += y[i] = std::log(undisturbed(measured[i].costs));
  mean_ /= static_cast<double>(known.size());

  // Backfitting: each option in turn explains what the others leave. A value seen once is trusted
  // less than one seen often.
  constexpr int rounds = 30;
  constexpr double shrinking = 0.1;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t o = 0; o < options; ++o) {
      std::vector<double> sum(effect_[o].size()), count(effect_[o].size());
      for (auto const i : known) {
        auto const v = at(candidates[i][o]);
        sum[v] += y[i] - log_cost(candidates[i]) + effect_[o][v];
        count[v] += 1;
      }
      for (std::size_t v = 0; v < sum.size(); ++v)
        effect_[o][v] = count[v] > 0 ? sum[v] / (count[v] + shrinking) : 0;
    }

  double squares = 0;
  std::size_t parameters = 1;
  for (auto const& values : effect_) parameters += values.size() - 1;
  for (auto const i : known) squares += std::pow(y[i] - log_cost(candidates[i]), 2);
  if (known.size() > parameters)
    doubt_ = std::sqrt((squares + assumed * assumed) /
                       static_cast<double>(known.size() - parameters + 1));
}

double Effects::log_cost(Candidate const& c) const {
  double sum = mean_;
  for (std::size_t o = 0; o < c.size(); ++o) sum += effect_[o][at(c[o])];
  return sum;
}

}  // namespace nigh::tune
