// SPDX-License-Identifier: Apache-2.0
// A library whose constructor waits for a thread that makes another one.

#include <cstdio>
#include <thread>

namespace {

int const waited = [] {
  std::thread outer([] { std::thread([] { std::puts("made in a constructor"); }).join(); });
  outer.join();
  return 1;
}();

}  // namespace
