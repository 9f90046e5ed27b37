// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared by tests of algorithms: runtimes of several sizes, lengths that matter, schedules.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <random>
#include <vector>

namespace nigh_tests {

inline nigh::topology const& two_by_four() {
  static auto const one = nigh::topology::from_synthetic("pack:2 numa:1 core:4 pu:1").value();
  return one;
}

inline std::unique_ptr<nigh::runtime> runtime_of(int workers) {
  nigh::runtime_options options;
  options.machine = &two_by_four();
  options.workers = workers;
  return std::make_unique<nigh::runtime>(options);
}

// 0, 1, fewer than workers, odd, about the sizes of groups and lanes, large.
inline std::vector<std::size_t> lengths() {
  return {0, 1, 2, 3, 7, 15, 16, 63, 64, 65, 511, 513, 1023, 1025, 4097, 30'011};
}

// f(options, length) for each length on runtimes of 1, 2, 3 and 8 workers, with and without a
// schedule.
template <class F>
void on_all(F const& f) {
  for (int workers : {1, 2, 3, 8}) {
    auto const runtime = runtime_of(workers);
    for (char const* name : {"", "static", "dynamic,5", "local"}) {
      nigh::loop_options options;
      options.where = runtime.get();
      if (*name != '\0') options.how = nigh::parse_schedule(name).value();
      for (auto const n : lengths()) f(options, n);
    }
  }
}

inline std::vector<int> numbers(std::size_t n, int below, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<int> all(n);
  for (auto& x : all) x = static_cast<int>(random() % static_cast<unsigned>(below));
  return all;
}

}  // namespace nigh_tests
