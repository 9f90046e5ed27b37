// SPDX-License-Identifier: Apache-2.0
// npb-cg: the conjugate gradient benchmark as a plain program.
#include <fmt/core.h>

#include "bench/options.hpp"
#include "bench/programs/program.hpp"
#include "cg/cg.hpp"

int main(int argc, char** argv) {
  auto const solve = [](std::string const& word) {
    cg::Class const* const size = cg::find_class(word);
    if (size == nullptr)
      throw bench::UsageError("--class: \"" + word + "\" is none of the classes S, W, A, B, C");
    auto const r = cg::run(*size);
    return bench::Answer{fmt::format("class {} zeta {:.13f}", size->name, r.zeta), r.verified};
  };
  return bench::run_plain_program({.name = "npb-cg",
                                   .description = "NPB conjugate gradients with OpenMP: one run",
                                   .size_flag = "--class",
                                   .size_help = "S, W, A, B or C",
                                   .default_size = "A",
                                   .solve = solve},
                                  argc, argv);
}
