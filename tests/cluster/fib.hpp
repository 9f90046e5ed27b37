// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tasks for programs of several ranks, half of which others may take.

#include <nigh/cluster.hpp>

inline long fib(int n) {
  if (n < 2) return n;
  long left;
  nigh::cluster::task_scope scope;
  scope.spawn<fib>(left, n - 1);
  long const right = fib(n - 2);
  scope.wait();
  return left + right;
}
