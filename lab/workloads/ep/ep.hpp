// SPDX-License-Identifier: Apache-2.0
#pragma once
// EP of the NAS Parallel Benchmarks (Bailey and others 1991): pairs of Gaussian random numbers by
// the polar method, counted by size. Threads share nothing but the end.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace ep {

struct Class {
  char name = '?';
  int log_pairs = 0;            // 2^log_pairs uniform pairs
  double sum_x = 0, sum_y = 0;  // published
};

std::span<Class const> classes() noexcept;
Class const* find_class(std::string_view name) noexcept;  // "A" or "a"; null: there is none

struct Result {
  double sum_x = 0, sum_y = 0;
  std::array<std::int64_t, 10> counts{};  // of pairs, by the larger one's integer part
  std::int64_t pairs = 0;                 // sum of counts
  bool verified = false;                  // sums are the published ones to 1e-8
};

// The same bits with any number of threads.
Result run(Class const& size);

}  // namespace ep
