// SPDX-License-Identifier: Apache-2.0
#include "fib/config.hpp"
#include "workloads/counting.hpp"
#include "workloads/size_text.hpp"

namespace workloads {

namespace {

std::uint64_t nth(int n) {
  std::uint64_t a = 0, b = 1;
  for (; n > 0; --n) a = std::exchange(b, a + b);
  return a;
}

std::unique_ptr<Instance> make(std::string const& size, int cutoff) {
  auto const n = static_cast<int>(number(size, 0, 60));
  using Fib =
      Counting<fib::Config, fib::solve_serial, fib::solve_openmp, fib::solve_tbb, fib::solve_nigh>;
  return std::make_unique<Fib>(fib::Config{n, cutoff}, nth(n), nth(n + 1) - 1);
}

}  // namespace

Problem fib_problem() { return {"fib", "a number to 60", {"0", "1", "17"}, {"30"}, {"35"}, make}; }

}  // namespace workloads
