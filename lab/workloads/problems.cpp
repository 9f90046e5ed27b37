// SPDX-License-Identifier: Apache-2.0
#include "workloads/problem.hpp"

namespace workloads {

std::span<Problem const> problems() {
  static Problem const list[] = {fib_problem(),      nqueens_problem(),  uts_problem(),
                                 sparselu_problem(), strassen_problem(), mergesort_problem(),
                                 quicksort_problem()};
  return list;
}

Problem const* find_problem(std::string_view name) {
  for (Problem const& p : problems())
    if (p.name == name) return &p;
  return nullptr;
}

}  // namespace workloads
