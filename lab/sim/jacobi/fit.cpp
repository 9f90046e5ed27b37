// SPDX-License-Identifier: Apache-2.0
#include "sim/jacobi/fit.hpp"

#include <cmath>
#include <cstddef>

#include "sim/minimise.hpp"

namespace nigh::sim {

namespace {

// Bandwidths as logarithms; what may be 0 is kept from going below by its absolute value.
Machine with(Machine machine, std::vector<double> const& numbers) {
  machine.thread_gb_per_s.value = std::exp(numbers[0]);
  machine.controller_gb_per_s.value = std::exp(numbers[1]);
  machine.per_hop.value = std::abs(numbers[2]);
  machine.crowding.value = std::abs(numbers[3]);
  return machine;
}

double rms_error(Machine const& machine, int left_out, std::uint64_t seed) {
  double squares = 0;
  int cells = 0;
  for (std::size_t c = 0; c < table1.size(); ++c) {
    if (static_cast<int>(c) == left_out) continue;
    double const error = jacobi_mlups(machine, table1[c].what, seed) / table1[c].published - 1;
    squares += error * error;
    ++cells;
  }
  return std::sqrt(squares / cells);
}

}  // namespace

Table1Fit fit_table1(Machine const& machine, int left_out, std::uint64_t seed, int evaluations) {
  double const link = std::log(machine.link_gb_per_s.value);
  auto const least = minimise(
      [&](std::vector<double> const& numbers) {
        return rms_error(with(machine, numbers), left_out, seed);
      },
      {link, link, 1, 0}, {0.2, 0.2, 0.5, 0.05}, evaluations);
  Table1Fit fit{with(machine, least.at), least.value, left_out, 0};
  if (left_out >= 0)
    fit.simulated =
        jacobi_mlups(fit.machine, table1[static_cast<std::size_t>(left_out)].what, seed);
  return fit;
}

}  // namespace nigh::sim
