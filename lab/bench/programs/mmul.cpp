// SPDX-License-Identifier: Apache-2.0
// mmul: the product of two dense matrices.
#include "mmul/mmul.hpp"

#include <fmt/core.h>

#include "bench/programs/program.hpp"

int main(int argc, char** argv) {
  auto const solve = [](std::string const& size) {
    auto const r = mmul::multiply(bench::size_from("--size", size, 1, 20000));
    return bench::Answer{fmt::format("size {} checksum {}", size, bench::hex(r.checksum)),
                         r.verified};
  };
  return bench::run_plain_program({.name = "mmul",
                                   .description = "Matrix product in blocks with OpenMP: one run",
                                   .size_flag = "--size",
                                   .size_help = "rows and columns",
                                   .default_size = "1536",
                                   .solve = solve},
                                  argc, argv);
}
