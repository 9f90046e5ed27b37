// SPDX-License-Identifier: Apache-2.0
// A program for trace.cli: traced N [STATUS] forks fib(N), tells it, and exits. fib(N) makes
// fib(N + 1) - 1 tasks. With STATUS "abort" it ends before its runtime does.

#include <cstdio>
#include <cstdlib>
#include <nigh/fork_join.hpp>
#include <string_view>

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto const [a, b] = nigh::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 1;
  std::printf("%ld\n", fib(std::atoi(argv[1])));
  std::fflush(stdout);
  if (argc < 3) return 0;
  if (std::string_view(argv[2]) == "abort") std::_Exit(3);
  return std::atoi(argv[2]);
}
