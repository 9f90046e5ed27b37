// SPDX-License-Identifier: Apache-2.0
// npb-ep: the embarrassingly parallel benchmark as a plain program.
#include <fmt/core.h>

#include "bench/options.hpp"
#include "bench/programs/program.hpp"
#include "ep/ep.hpp"

int main(int argc, char** argv) {
  auto const solve = [](std::string const& word) {
    ep::Class const* const size = ep::find_class(word);
    if (size == nullptr)
      throw bench::UsageError("--class: \"" + word + "\" is none of the classes S, W, A, B");
    auto const r = ep::run(*size);
    return bench::Answer{fmt::format("class {} sums {:.12e} {:.12e} pairs {}", size->name, r.sum_x,
                                     r.sum_y, r.pairs),
                         r.verified};
  };
  return bench::run_plain_program({.name = "npb-ep",
                                   .description = "NPB Gaussian random pairs with OpenMP: one run",
                                   .size_flag = "--class",
                                   .size_help = "S, W, A or B",
                                   .default_size = "W",
                                   .solve = solve},
                                  argc, argv);
}
