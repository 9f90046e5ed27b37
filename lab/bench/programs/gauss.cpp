// SPDX-License-Identifier: Apache-2.0
// gauss: a dense system of linear equations.
#include "gauss/gauss.hpp"

#include <fmt/core.h>

#include "bench/programs/program.hpp"

int main(int argc, char** argv) {
  auto const solve = [](std::string const& size) {
    auto const r = gauss::solve(bench::size_from("--size", size, 1, 20000));
    return bench::Answer{fmt::format("size {} residual {:.3e} checksum {}", size, r.scaled_residual,
                                     bench::hex(r.checksum)),
                         r.verified};
  };
  return bench::run_plain_program({.name = "gauss",
                                   .description = "Gaussian elimination with OpenMP: one run",
                                   .size_flag = "--size",
                                   .size_help = "unknowns",
                                   .default_size = "1500",
                                   .solve = solve},
                                  argc, argv);
}
