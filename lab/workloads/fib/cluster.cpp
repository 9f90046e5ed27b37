// SPDX-License-Identifier: Apache-2.0
#include "workloads/cluster.hpp"

#include <nigh/cluster.hpp>

#include "fib/config.hpp"
#include "workloads/size_text.hpp"

namespace fib {

namespace {

// levels: of tasks, before calls are plain.
std::uint64_t spawn(int n, int levels) {
  if (n < 2 || levels == 0) return serial(n);
  std::uint64_t left;
  nigh::cluster::task_scope scope;
  scope.spawn<spawn>(left, n - 1, levels - 1);
  auto const right = spawn(n - 2, levels - 1);
  scope.wait();
  return left + right;
}

std::uint64_t solve_cluster(Config const& config) {
  return nigh::cluster::run<spawn>(config.n, config.cutoff > 0 ? config.cutoff : config.n);
}

}  // namespace

}  // namespace fib

namespace workloads {

ClusterProblem fib_on_ranks() {
  return {"fib", [](std::string const& size, int cutoff, int) -> std::function<Answer()> {
            fib::Config const config{static_cast<int>(number(size, 0, 60)), cutoff};
            return [config] { return fib::solve_cluster(config); };
          }};
}

}  // namespace workloads
