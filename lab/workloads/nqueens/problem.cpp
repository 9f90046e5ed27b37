// SPDX-License-Identifier: Apache-2.0
#include "nqueens/config.hpp"
#include "workloads/counting.hpp"
#include "workloads/size_text.hpp"

namespace workloads {

namespace {

struct Known {
  Answer solutions;
  std::uint64_t nodes;  // of the search tree, the root included
};

// [n]. Solutions: OEIS A000170.
constexpr Known known[] = {
    {1, 1},
    {1, 2},
    {0, 3},
    {0, 6},
    {2, 17},
    {10, 54},
    {4, 153},
    {40, 552},
    {92, 2057},
    {352, 8394},
    {724, 35539},
    {2680, 166926},
    {14200, 856189},
    {73712, 4674890},
    {365596, 27358553},
    {2279184, 171129072},
};

std::unique_ptr<Instance> make(std::string const& size, int cutoff) {
  auto const n = static_cast<int>(number(size, 1, 15));
  using Queens = Counting<nqueens::Config, nqueens::solve_serial, nqueens::solve_openmp,
                          nqueens::solve_tbb, nqueens::solve_nigh>;
  Known const& right = known[static_cast<std::size_t>(n)];
  return std::make_unique<Queens>(nqueens::Config{n, cutoff}, right.solutions, right.nodes - 1);
}

}  // namespace

Problem nqueens_problem() {
  return {"nqueens", "a number to 15", {"1", "2", "4", "8"}, {"12"}, {"13", "14"}, make};
}

}  // namespace workloads
